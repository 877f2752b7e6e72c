-- Sessions merge while nested THENs stand at unlike places: the outer one decides, and what stands inside it comes from
-- the session that is least advanced there. The first session waits for four rows (outer 0, inner 2), the second is at
-- outer 1, inner 0: three rows are not enough for the merged one, the fourth is.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 1 | 12:00:01   | 12:05:01
--   a | 1 | 12:00:20   | 12:05:02
--   a | 1 | 12:00:21   | 12:05:03
--   a | 1 | 12:00:22   | 12:05:04
--   a | 1 | 12:00:22   | 12:05:04
--   a | 1 | 12:00:22   | 12:05:04
--   a | 1 | 12:00:22   | 12:05:04
--   a | 1 | 12:00:10   | 12:05:05
--   a | 1 | 12:00:10   | 12:05:05
--   a | 1 | 12:00:11   | 12:05:05
--   a | 1 | 12:00:12   | 12:05:06
-- expect panes
--   k | n  | window_start | window_end | index | emitted_at
--   a | 1  | 12:00:00     | 12:00:10   | 0     | 12:05:00
--   a | 2  | 12:00:00     | 12:00:11   | 0     | 12:05:01
--   a | 1  | 12:00:20     | 12:00:30   | 0     | 12:05:02
--   a | 2  | 12:00:20     | 12:00:31   | 0     | 12:05:03
--   a | 6  | 12:00:20     | 12:00:32   | 0     | 12:05:04
--   a | 12 | 12:00:00     | 12:00:32   | 0     | 12:05:06
-- expect t
--   k | n  | window_start | window_end
--   a | 12 | 12:00:00     | 12:00:32

CREATE STREAM merge_nested_then_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE merge_nested_then AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM merge_nested_then_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER (AFTER 1 ROWS THEN AFTER 1 ROWS THEN AFTER 4 ROWS) THEN (AFTER 1 ROWS THEN AFTER 5 ROWS)
ACCUMULATING;

SELECT * FROM panes('merge_nested_then');
