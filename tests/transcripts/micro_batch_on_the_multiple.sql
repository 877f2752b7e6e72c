-- What arrives exactly at a multiple of the step is in the batch that ends there; timers fall due at the end of their batch.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:10
--   a | 2 | 12:00:00   | 12:05:11
-- expect panes
--   k | n | s | emitted_at
--   a | 2 | 3 | 12:05:20

CREATE STREAM micro_batch_on_the_multiple_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', step '10 seconds', watermark 'none');

CREATE STREAMING TABLE micro_batch_on_the_multiple AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM micro_batch_on_the_multiple_source
GROUP BY k
WINDOW GLOBAL
TRIGGER AFTER INTERVAL 4 SECONDS
DISCARDING;

DRAIN STREAMING TABLE micro_batch_on_the_multiple;

SELECT * FROM panes('micro_batch_on_the_multiple');
