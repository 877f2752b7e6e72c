-- The Dataflow Model, figure 8: global window, a pane every minute of processing time, discarding.
-- expect panes
--   value | window_start | window_end | timing | index | emitted_at
--   12    | NULL         | NULL       | EARLY  | 0     | 12:06:00
--   10    | NULL         | NULL       | EARLY  | 1     | 12:07:00
--   11    | NULL         | NULL       | EARLY  | 2     | 12:08:00
--   18    | NULL         | NULL       | EARLY  | 3     | 12:09:00
-- expect t
--   value | window_start | window_end
--   12    | NULL         | NULL
--   10    | NULL         | NULL
--   11    | NULL         | NULL
--   18    | NULL         | NULL

CREATE STREAM figure_08_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE figure_08 AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_08_source
GROUP BY key
WINDOW GLOBAL
TRIGGER EVERY INTERVAL 1 MINUTE
DISCARDING;

SELECT * FROM panes('figure_08');
