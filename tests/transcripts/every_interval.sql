-- EVERY i is due at the first multiple of i at or after the arrival of the first new row.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:10
--   a | 2 | 12:00:01   | 12:05:11
--   a | 4 | 12:00:02   | 12:05:25
--   a | 8 | 12:00:03   | 12:05:30
-- expect panes
--   k | n | s  | window_start | window_end | timing | index | emitted_at
--   a | 1 | 1  | NULL         | NULL       | EARLY  | 0     | 12:05:10
--   a | 2 | 3  | NULL         | NULL       | EARLY  | 1     | 12:05:20
--   a | 4 | 15 | NULL         | NULL       | EARLY  | 2     | 12:05:30

CREATE STREAM every_interval_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE every_interval AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM every_interval_source
GROUP BY k
WINDOW GLOBAL
TRIGGER EVERY INTERVAL 10 SECONDS
ACCUMULATING;

SELECT * FROM panes('every_interval');
