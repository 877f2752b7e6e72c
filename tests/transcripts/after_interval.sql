-- AFTER i runs from the arrival of the first row of each pane.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:01   | 12:05:10
--   a | 4 | 12:00:02   | 12:05:20
-- expect panes
--   k | n | s | emitted_at
--   a | 2 | 3 | 12:05:15
--   a | 3 | 7 | 12:05:35

CREATE STREAM after_interval_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE after_interval AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM after_interval_source
GROUP BY k
WINDOW GLOBAL
TRIGGER AFTER INTERVAL 15 SECONDS
ACCUMULATING;

SELECT * FROM panes('after_interval');
