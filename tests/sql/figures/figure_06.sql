-- The Dataflow Model, figure 6: classic batch; one global window, the watermark held and then sent to infinity.
-- expect panes
--   value | window_start | window_end | timing  | index | emitted_at
--   51    | NULL         | NULL       | ON_TIME | 0     | 12:08:59
-- expect t
--   value | window_start | window_end
--   51    | NULL         | NULL

CREATE STREAM figure_06_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE figure_06 AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_06_source
GROUP BY key
WINDOW GLOBAL
TRIGGER AT WATERMARK
ACCUMULATING;

DRAIN STREAMING TABLE figure_06;

SELECT * FROM panes('figure_06');
