-- A GAP of the row: the earlier row's gap counts; 0, negative and NULL are bad rows.
-- level: full
-- rows
--   k | v  | event_time | arrival  | gap
--   a | 1  | 12:00:00   | 12:05:00 | 20
--   a | 2  | 12:00:19   | 12:05:00 | 1
--   a | 4  | 12:00:20   | 12:05:00 | 1
--   a | 8  | 12:00:30   | 12:05:00 | 0
--   a | 16 | 12:00:30   | 12:05:00 | NULL
--   a | 32 | 12:00:30   | 12:05:00 | -5
-- expect panes
--   k | n | s | window_start | window_end
--   a | 2 | 3 | 12:00:00     | 12:00:20
--   a | 1 | 4 | 12:00:20     | 12:00:21
-- expect bad
--   k | v
--   a | 8
--   a | 16
--   a | 32

CREATE STREAM gap_of_the_row_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP, gap INT)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE gap_of_the_row AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM gap_of_the_row_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP make_dt_interval(0, 0, 0, gap));

DRAIN STREAMING TABLE gap_of_the_row;

SELECT * FROM panes('gap_of_the_row');
