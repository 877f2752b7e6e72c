-- A session that grows, but not beyond the watermark, stays past it: LATE EVERY ROW fires for one row.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:05   | 12:05:20
-- watermark
--   at       | to
--   12:05:10 | 12:00:15
-- expect panes
--   k | n | window_start | window_end | timing  | emitted_at
--   a | 1 | 12:00:00     | 12:00:10   | ON_TIME | 12:05:10
--   a | 2 | 12:00:00     | 12:00:15   | LATE    | 12:05:20

CREATE STREAM session_grows_below_the_watermark_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE session_grows_below_the_watermark AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM session_grows_below_the_watermark_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW
ACCUMULATING;

SELECT * FROM panes('session_grows_below_the_watermark');
