-- More than n rows in one step are one pane; a micro-batch at T holds (T - step, T].
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:00   | 12:05:01
--   a | 2  | 12:00:01   | 12:05:02
--   a | 4  | 12:00:02   | 12:05:03
--   a | 8  | 12:00:03   | 12:05:10
--   a | 16 | 12:00:04   | 12:05:11
-- expect panes
--   k | n | s  | timing  | emitted_at
--   a | 4 | 15 | EARLY   | 12:05:10
--   a | 1 | 16 | ON_TIME | 12:05:20

CREATE STREAM one_step_one_pane_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', step '10 seconds', watermark 'none');

CREATE STREAMING TABLE one_step_one_pane AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM one_step_one_pane_source
GROUP BY k
WINDOW GLOBAL
TRIGGER EVERY 2 ROWS
DISCARDING;

DRAIN STREAMING TABLE one_step_one_pane;

SELECT * FROM panes('one_step_one_pane');
