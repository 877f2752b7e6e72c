-- Without GROUP BY all rows are one group per window; a window without rows emits nothing.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   b | 2 | 12:00:02   | 12:05:00
--   a | 4 | 12:00:31   | 12:05:00
-- watermark
--   at       | to
--   12:05:10 | 12:01:00
-- expect panes
--   n | s | window_start | window_end | emitted_at
--   2 | 3 | 12:00:00     | 12:00:10   | 12:05:10
--   1 | 4 | 12:00:30     | 12:00:40   | 12:05:10

CREATE STREAM keyless_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE keyless AS
SELECT count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM keyless_source
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS);

SELECT * FROM panes('keyless');
