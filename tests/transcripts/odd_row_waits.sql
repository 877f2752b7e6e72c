-- A row that is one too few for EVERY 2 ROWS waits; while nothing drains the table, no pane has it. [point 18]
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01 | 12:05:00
--   a | 2 | 12:00:02 | 12:05:10
--   a | 4 | 12:00:03 | 12:05:20
-- expect panes
--   k | n | s | timing | index | emitted_at
--   a | 2 | 3 | EARLY | 0 | 12:05:10

CREATE STREAM odd_row_waits_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE odd_row_waits AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM odd_row_waits_source
GROUP BY k
WINDOW GLOBAL
TRIGGER EVERY 2 ROWS
DISCARDING;

SELECT * FROM panes('odd_row_waits');
