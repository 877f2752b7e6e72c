-- The input of the Dataflow Model: sessions in batch, which the paper does not show.
-- expect panes
--   value | window_start | window_end | timing  | index | emitted_at
--   39    | 12:00:27     | 12:05:20   | ON_TIME | 0     | 12:08:59
--   12    | 12:06:40     | 12:08:47   | ON_TIME | 0     | 12:08:59
-- expect t
--   value | window_start | window_end
--   39    | 12:00:27     | 12:05:20
--   12    | 12:06:40     | 12:08:47

CREATE STREAM sessions_batch_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark 'none');

CREATE STREAMING TABLE sessions_batch AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM sessions_batch_source
GROUP BY key
WINDOW SESSIONS (event_time, GAP INTERVAL 1 MINUTE);

DRAIN STREAMING TABLE sessions_batch;

SELECT * FROM panes('sessions_batch');
