-- The Dataflow Model, figure 7 with withdrawals, which the paper does not show.
-- level: full (needs the whole trigger algebra or RETRACTING)
-- expect panes
--   change | value | window_start | window_end | timing | index | emitted_at
--   insert | 12    | NULL         | NULL       | EARLY  | 0     | 12:06:00
--   delete | 12    | NULL         | NULL       | EARLY  | 0     | 12:07:00
--   insert | 22    | NULL         | NULL       | EARLY  | 1     | 12:07:00
--   delete | 22    | NULL         | NULL       | EARLY  | 1     | 12:08:00
--   insert | 33    | NULL         | NULL       | EARLY  | 2     | 12:08:00
--   delete | 33    | NULL         | NULL       | EARLY  | 2     | 12:09:00
--   insert | 51    | NULL         | NULL       | EARLY  | 3     | 12:09:00
-- expect t
--   value | window_start | window_end
--   51    | NULL         | NULL

CREATE STREAM figure_07_retracting_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE figure_07_retracting AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_07_retracting_source
GROUP BY key
WINDOW GLOBAL
TRIGGER EVERY INTERVAL 1 MINUTE
ACCUMULATING AND RETRACTING;

SELECT * FROM panes('figure_07_retracting');
