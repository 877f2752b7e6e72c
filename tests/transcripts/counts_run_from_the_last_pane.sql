-- Counts run from the last pane, whichever unit emitted it: after the pane of 12:06:00 two rows are not three.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:50
--   a | 2 | 12:00:01   | 12:05:55
--   a | 4 | 12:00:02   | 12:06:10
--   a | 8 | 12:00:03   | 12:06:20
-- expect panes
--   k | n | s  | emitted_at
--   a | 2 | 3  | 12:06:00
--   a | 4 | 15 | 12:07:00

CREATE STREAM counts_run_from_the_last_pane_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE counts_run_from_the_last_pane AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM counts_run_from_the_last_pane_source
GROUP BY k
WINDOW GLOBAL
TRIGGER EVERY 3 ROWS OR EVERY INTERVAL 1 MINUTE
ACCUMULATING;

SELECT * FROM panes('counts_run_from_the_last_pane');
