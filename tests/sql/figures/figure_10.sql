-- The Dataflow Model, figure 10: fixed windows, batch; the four panes come once all input has arrived.
-- expect panes
--   value | window_start | window_end | timing  | index | emitted_at
--   14    | 12:00:00     | 12:02:00   | ON_TIME | 0     | 12:08:59
--   22    | 12:02:00     | 12:04:00   | ON_TIME | 0     | 12:08:59
--   3     | 12:04:00     | 12:06:00   | ON_TIME | 0     | 12:08:59
--   12    | 12:06:00     | 12:08:00   | ON_TIME | 0     | 12:08:59
-- expect t
--   value | window_start | window_end
--   14    | 12:00:00     | 12:02:00
--   22    | 12:02:00     | 12:04:00
--   3     | 12:04:00     | 12:06:00
--   12    | 12:06:00     | 12:08:00

CREATE STREAM figure_10_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE figure_10 AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_10_source
GROUP BY key
WINDOW FIXED (event_time, SIZE INTERVAL 2 MINUTES)
TRIGGER AT WATERMARK
ACCUMULATING;

DRAIN STREAMING TABLE figure_10;

SELECT * FROM panes('figure_10');
