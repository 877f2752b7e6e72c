-- THEN looks at its next part from the next step on, and starts again when it is through.
-- level: full
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:01   | 12:05:00
--   a | 2  | 12:00:02   | 12:05:00
--   a | 4  | 12:00:03   | 12:05:10
--   a | 8  | 12:00:04   | 12:05:20
--   a | 16 | 12:00:05   | 12:05:30
-- expect panes
--   k | n | s  | index | emitted_at
--   a | 2 | 3  | 0     | 12:05:00
--   a | 4 | 15 | 1     | 12:05:20
--   a | 5 | 31 | 2     | 12:05:30

CREATE STREAM then_looks_at_the_next_step_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE then_looks_at_the_next_step AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM then_looks_at_the_next_step_source
GROUP BY k
WINDOW GLOBAL
TRIGGER AFTER 1 ROWS THEN AFTER 2 ROWS
ACCUMULATING;

SELECT * FROM panes('then_looks_at_the_next_step');
