-- The index counts the panes of exactly these bounds: it goes on while the session stays as it is, and starts at 0 when it grows.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:00   | 12:05:10
--   a | 4 | 12:00:05   | 12:05:20
-- expect panes
--   k | n | s | window_start | window_end | index | emitted_at
--   a | 1 | 1 | 12:00:00     | 12:00:10   | 0     | 12:05:00
--   a | 2 | 3 | 12:00:00     | 12:00:10   | 1     | 12:05:10
--   a | 3 | 7 | 12:00:00     | 12:00:15   | 0     | 12:05:20
-- expect t
--   k | n | window_start | window_end
--   a | 3 | 12:00:00     | 12:00:15

CREATE STREAM session_index_restarts_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE session_index_restarts AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM session_index_restarts_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER EVERY ROW
ACCUMULATING;

SELECT * FROM panes('session_index_restarts');
