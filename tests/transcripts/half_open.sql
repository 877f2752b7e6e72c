-- A row on the end of a window is in the next one. [point 4]
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:01:59 | 12:05:00
--   a | 2 | 12:02:00 | 12:05:00
-- expect panes
--   k | n | s | window_start | window_end
--   a | 1 | 1 | 12:00:00 | 12:02:00
--   a | 1 | 2 | 12:02:00 | 12:04:00

CREATE STREAM half_open_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE half_open AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM half_open_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 2 MINUTES);

DRAIN STREAMING TABLE half_open;

SELECT * FROM panes('half_open');
