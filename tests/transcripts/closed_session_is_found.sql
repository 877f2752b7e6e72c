-- Lateness 0: the session closes at its end, and a row that is not late by its own window still finds it.
-- The merged session ends beyond the watermark, so it is open again. The other row is late by its own window.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:04   | 12:05:00
--   a | 4 | 12:00:05   | 12:05:20
--   a | 8 | 12:00:03   | 12:05:20
-- watermark
--   at       | to
--   12:05:10 | 12:00:14
-- expect panes
--   k | n | s | window_start | window_end | timing  | index | emitted_at
--   a | 2 | 3 | 12:00:00     | 12:00:14   | ON_TIME | 0     | 12:05:10
--   a | 3 | 7 | 12:00:00     | 12:00:15   | ON_TIME | 0     | 12:05:20
-- expect t
--   k | n | window_end
--   a | 3 | 12:00:15
-- expect late
--   k | v | window_start | window_end
--   a | 8 | 12:00:03     | 12:00:13

CREATE STREAM closed_session_is_found_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE closed_session_is_found AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM closed_session_is_found_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK
ACCUMULATING
ALLOWED LATENESS INTERVAL 0 SECONDS;

DRAIN STREAMING TABLE closed_session_is_found;

SELECT * FROM panes('closed_session_is_found');
