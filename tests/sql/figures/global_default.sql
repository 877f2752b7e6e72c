-- The input of the Dataflow Model: global window, default trigger, never drained: no output ever, which the paper does not show.
-- expect panes
--   value | window_start | window_end | timing | index | emitted_at

CREATE STREAM global_default_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE global_default AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM global_default_source
GROUP BY key
WINDOW GLOBAL;

SELECT * FROM panes('global_default');
