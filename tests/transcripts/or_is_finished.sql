-- OR is finished when a part that fires is finished; then its THEN starts again from its first part.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 1 | 12:00:00   | 12:05:10
--   a | 1 | 12:00:00   | 12:05:20
--   a | 1 | 12:00:00   | 12:05:30
-- expect panes
--   k | n | emitted_at
--   a | 1 | 12:05:00
--   a | 3 | 12:05:20
--   a | 4 | 12:05:30

CREATE STREAM or_is_finished_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE or_is_finished AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM or_is_finished_source
GROUP BY k
WINDOW GLOBAL
TRIGGER (AFTER 1 ROWS THEN AFTER 3 ROWS) OR AFTER 2 ROWS
ACCUMULATING;

SELECT * FROM panes('or_is_finished');
