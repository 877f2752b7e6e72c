-- Rows exactly GAP apart are two sessions, rows less than GAP apart are one.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:10   | 12:05:00
--   a | 4 | 12:00:19   | 12:05:00
-- expect panes
--   k | n | s | window_start | window_end | timing  | emitted_at
--   a | 1 | 1 | 12:00:00     | 12:00:10   | ON_TIME | 12:05:00
--   a | 2 | 6 | 12:00:10     | 12:00:29   | ON_TIME | 12:05:00

CREATE STREAM session_gap_is_strict_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE session_gap_is_strict AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM session_gap_is_strict_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS);

DRAIN STREAMING TABLE session_gap_is_strict;

SELECT * FROM panes('session_gap_is_strict');
