-- The Dataflow Model, figure 13 with withdrawals, which the paper does not show.
-- level: full (needs the whole trigger algebra or RETRACTING)
-- expect panes
--   change | value | window_start | window_end | timing  | index | emitted_at
--   insert | 5     | 12:00:00     | 12:02:00   | ON_TIME | 0     | 12:06:00
--   insert | 7     | 12:02:00     | 12:04:00   | EARLY   | 0     | 12:06:00
--   delete | 7     | 12:02:00     | 12:04:00   | EARLY   | 0     | 12:07:00
--   insert | 14    | 12:02:00     | 12:04:00   | EARLY   | 1     | 12:07:00
--   insert | 3     | 12:04:00     | 12:06:00   | EARLY   | 0     | 12:07:00
--   delete | 14    | 12:02:00     | 12:04:00   | EARLY   | 1     | 12:07:30
--   insert | 22    | 12:02:00     | 12:04:00   | ON_TIME | 2     | 12:07:30
--   insert | 3     | 12:06:00     | 12:08:00   | EARLY   | 0     | 12:08:00
--   delete | 5     | 12:00:00     | 12:02:00   | ON_TIME | 0     | 12:08:20
--   insert | 14    | 12:00:00     | 12:02:00   | LATE    | 1     | 12:08:20
--   delete | 3     | 12:06:00     | 12:08:00   | EARLY   | 0     | 12:09:00
--   insert | 12    | 12:06:00     | 12:08:00   | EARLY   | 1     | 12:09:00
-- expect t
--   value | window_start | window_end
--   14    | 12:00:00     | 12:02:00
--   22    | 12:02:00     | 12:04:00
--   3     | 12:04:00     | 12:06:00
--   12    | 12:06:00     | 12:08:00

CREATE STREAM figure_13_retracting_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark '${data}/paper_watermark.csv');

CREATE STREAMING TABLE figure_13_retracting AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_13_retracting_source
GROUP BY key
WINDOW FIXED (event_time, SIZE INTERVAL 2 MINUTES)
TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW
RETRACTING;

SELECT * FROM panes('figure_13_retracting');
