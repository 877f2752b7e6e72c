-- The Dataflow Model, figure 13 discarding, which the paper does not show.
-- expect panes
--   value | window_start | window_end | timing  | index | emitted_at
--   5     | 12:00:00     | 12:02:00   | ON_TIME | 0     | 12:06:00
--   7     | 12:02:00     | 12:04:00   | EARLY   | 0     | 12:06:00
--   7     | 12:02:00     | 12:04:00   | EARLY   | 1     | 12:07:00
--   3     | 12:04:00     | 12:06:00   | EARLY   | 0     | 12:07:00
--   8     | 12:02:00     | 12:04:00   | ON_TIME | 2     | 12:07:30
--   3     | 12:06:00     | 12:08:00   | EARLY   | 0     | 12:08:00
--   9     | 12:00:00     | 12:02:00   | LATE    | 1     | 12:08:20
--   9     | 12:06:00     | 12:08:00   | EARLY   | 1     | 12:09:00

CREATE STREAM figure_13_discarding_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark '${data}/paper_watermark.csv');

CREATE STREAMING TABLE figure_13_discarding AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_13_discarding_source
GROUP BY key
WINDOW FIXED (event_time, SIZE INTERVAL 2 MINUTES)
TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW
DISCARDING;

SELECT * FROM panes('figure_13_discarding');
