-- The Dataflow Model, figure 9 accumulating, which the paper does not show.
-- expect panes
--   value | window_start | window_end | timing | index | emitted_at
--   12    | NULL         | NULL       | EARLY  | 0     | 12:05:40
--   19    | NULL         | NULL       | EARLY  | 1     | 12:06:27
--   30    | NULL         | NULL       | EARLY  | 2     | 12:07:07
--   42    | NULL         | NULL       | EARLY  | 3     | 12:08:20
--   51    | NULL         | NULL       | EARLY  | 4     | 12:08:59

CREATE STREAM figure_09_accumulating_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE figure_09_accumulating AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_09_accumulating_source
GROUP BY key
WINDOW GLOBAL
TRIGGER EVERY 2 ROWS
ACCUMULATING;

SELECT * FROM panes('figure_09_accumulating');
