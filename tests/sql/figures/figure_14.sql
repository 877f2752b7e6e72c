-- The Dataflow Model, figure 14: sessions with partial panes and withdrawals.
-- level: full (needs the whole trigger algebra or RETRACTING)
-- expect panes
--   change | value | window_start | window_end | timing  | index | emitted_at
--   insert | 5     | 12:00:27     | 12:01:27   | ON_TIME | 0     | 12:06:00
--   insert | 7     | 12:02:25     | 12:03:25   | EARLY   | 0     | 12:06:00
--   insert | 10    | 12:03:40     | 12:05:20   | EARLY   | 0     | 12:07:00
--   delete | 7     | 12:02:25     | 12:03:25   | EARLY   | 0     | 12:07:36
--   delete | 10    | 12:03:40     | 12:05:20   | EARLY   | 0     | 12:07:36
--   insert | 25    | 12:02:25     | 12:05:20   | ON_TIME | 0     | 12:07:36
--   insert | 3     | 12:06:40     | 12:07:40   | EARLY   | 0     | 12:08:00
--   delete | 5     | 12:00:27     | 12:01:27   | ON_TIME | 0     | 12:08:20
--   delete | 25    | 12:02:25     | 12:05:20   | ON_TIME | 0     | 12:08:20
--   insert | 39    | 12:00:27     | 12:05:20   | LATE    | 0     | 12:08:20
--   delete | 3     | 12:06:40     | 12:07:40   | EARLY   | 0     | 12:09:00
--   insert | 12    | 12:06:40     | 12:08:47   | EARLY   | 0     | 12:09:00
-- expect t
--   value | window_start | window_end
--   39    | 12:00:27     | 12:05:20
--   12    | 12:06:40     | 12:08:47

CREATE STREAM figure_14_source (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)
USING replay OPTIONS (path '${data}/paper.json', format 'json', arrival 'processing_time', watermark '${data}/paper_watermark.csv');

CREATE STREAMING TABLE figure_14 AS
SELECT key, sum(value) AS value, window_start, window_end
FROM STREAM figure_14_source
GROUP BY key
WINDOW SESSIONS (event_time, GAP INTERVAL 1 MINUTE)
TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW
RETRACTING;

SELECT * FROM panes('figure_14');
