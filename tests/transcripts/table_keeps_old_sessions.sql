-- t keeps the old sessions until the merged one emits: the bridging row alone does not fire EVERY 2 ROWS.
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:00   | 12:05:00
--   a | 2  | 12:00:01   | 12:05:00
--   a | 4  | 12:00:15   | 12:05:10
--   a | 8  | 12:00:16   | 12:05:10
--   a | 16 | 12:00:09   | 12:05:20
-- expect panes
--   k | n | s  | window_start | window_end | emitted_at
--   a | 2 | 3  | 12:00:00     | 12:00:11   | 12:05:00
--   a | 2 | 12 | 12:00:15     | 12:00:26   | 12:05:10
-- expect t
--   k | n | s  | window_start | window_end
--   a | 2 | 3  | 12:00:00     | 12:00:11
--   a | 2 | 12 | 12:00:15     | 12:00:26

CREATE STREAM table_keeps_old_sessions_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE table_keeps_old_sessions AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM table_keeps_old_sessions_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER EVERY 2 ROWS
ACCUMULATING;

SELECT * FROM panes('table_keeps_old_sessions');
