-- The input of the Dataflow Model: sliding windows in batch, which the paper does not show.
-- expect panes
--   value | window_start | window_end | timing  | index | emitted_at
--   5     | 11:59:00     | 12:01:00   | ON_TIME | 0     | 12:08:59
--   14    | 12:00:00     | 12:02:00   | ON_TIME | 0     | 12:08:59
--   16    | 12:01:00     | 12:03:00   | ON_TIME | 0     | 12:08:59
--   22    | 12:02:00     | 12:04:00   | ON_TIME | 0     | 12:08:59
--   18    | 12:03:00     | 12:05:00   | ON_TIME | 0     | 12:08:59
--   3     | 12:04:00     | 12:06:00   | ON_TIME | 0     | 12:08:59
--   3     | 12:05:00     | 12:07:00   | ON_TIME | 0     | 12:08:59
--   12    | 12:06:00     | 12:08:00   | ON_TIME | 0     | 12:08:59
--   9     | 12:07:00     | 12:09:00   | ON_TIME | 0     | 12:08:59
-- expect t
--   value | window_start | window_end
--   5     | 11:59:00     | 12:01:00
--   14    | 12:00:00     | 12:02:00
--   16    | 12:01:00     | 12:03:00
--   22    | 12:02:00     | 12:04:00
--   18    | 12:03:00     | 12:05:00
--   3     | 12:04:00     | 12:06:00
--   3     | 12:05:00     | 12:07:00
--   12    | 12:06:00     | 12:08:00
--   9     | 12:07:00     | 12:09:00

CREATE STREAM sliding_batch_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE sliding_batch AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM sliding_batch_source
GROUP BY key
WINDOW SLIDING (event_time, SIZE INTERVAL 2 MINUTES, EVERY INTERVAL 1 MINUTE);

DRAIN STREAMING TABLE sliding_batch;

SELECT * FROM panes('sliding_batch');
