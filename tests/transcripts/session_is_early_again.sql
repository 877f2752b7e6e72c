-- A session that grows beyond the watermark is early again: one new row is not enough, two are, and the old pane stays in t till then.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:05   | 12:05:20
--   a | 4 | 12:00:06   | 12:05:30
-- watermark
--   at       | to
--   12:05:10 | 12:00:12
--   12:05:40 | 12:00:20
-- expect panes
--   k | n | window_start | window_end | timing  | index | emitted_at
--   a | 1 | 12:00:00     | 12:00:10   | ON_TIME | 0     | 12:05:10
--   a | 3 | 12:00:00     | 12:00:16   | EARLY   | 0     | 12:05:30
-- expect t
--   k | n | window_end
--   a | 3 | 12:00:16

CREATE STREAM session_is_early_again_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE session_is_early_again AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM session_is_early_again_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW
ACCUMULATING;

SELECT * FROM panes('session_is_early_again');
