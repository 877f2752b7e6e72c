-- The stream's WATERMARK clause: the highest timestamp less the delay, late rows and all keys fed, never back.
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:01   | 12:05:00
--   b | 2  | 12:00:14   | 12:05:10
--   b | 4  | 12:00:15   | 12:05:20
--   a | 8  | 12:00:02   | 12:05:30
--   a | 16 | 12:00:40   | 12:05:40
--   a | 32 | 12:00:03   | 12:05:50
-- expect panes
--   k | n | s | window_start | timing  | index | emitted_at | watermark
--   a | 1 | 1 | 12:00:00     | ON_TIME | 0     | 12:05:20   | 12:00:10
--   a | 2 | 9 | 12:00:00     | LATE    | 1     | 12:05:30   | 12:00:10
--   b | 2 | 6 | 12:00:10     | ON_TIME | 0     | 12:05:40   | 12:00:35
-- expect late
--   k | v  | window_start | at
--   a | 32 | 12:00:00     | 12:05:50

CREATE STREAM watermark_delay_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival')
WATERMARK event_time DELAY OF INTERVAL 5 SECONDS;

CREATE STREAMING TABLE watermark_delay AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM watermark_delay_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK
ACCUMULATING
ALLOWED LATENESS INTERVAL 20 SECONDS;

SELECT * FROM panes('watermark_delay');
