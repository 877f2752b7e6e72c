-- Without TRIGGER: once when the watermark reaches the end, then for each late row. [points 14, 34]
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01 | 12:05:00
--   a | 2 | 12:00:02 | 12:05:20
--   a | 4 | 12:00:03 | 12:05:30
-- watermark
--   at | to
--   12:05:10 | 12:00:10
-- expect panes
--   k | n | s | timing | index | emitted_at
--   a | 1 | 1 | ON_TIME | 0 | 12:05:10
--   a | 2 | 3 | LATE | 1 | 12:05:20
--   a | 3 | 7 | LATE | 2 | 12:05:30

CREATE STREAM default_trigger_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE default_trigger AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM default_trigger_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS);

SELECT * FROM panes('default_trigger');
