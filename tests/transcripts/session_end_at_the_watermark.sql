-- A session that ends exactly at the watermark has been passed: it grows beyond and is early again, one row is not enough.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:05   | 12:05:20
-- watermark
--   at       | to
--   12:05:10 | 12:00:10
-- expect panes
--   k | n | window_start | window_end | timing  | emitted_at
--   a | 1 | 12:00:00     | 12:00:10   | ON_TIME | 12:05:10
-- expect t
--   k | n | window_end
--   a | 1 | 12:00:10

CREATE STREAM session_end_at_the_watermark_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE session_end_at_the_watermark AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM session_end_at_the_watermark_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW
ACCUMULATING;

SELECT * FROM panes('session_end_at_the_watermark');
