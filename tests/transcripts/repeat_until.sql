-- REPEAT until: the firing that ends it emits too, and both in one step are one pane; then the part after it has its turn.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:10
--   a | 9 | 12:00:03   | 12:05:20
--   a | 4 | 12:00:04   | 12:05:30
--   a | 8 | 12:00:05   | 12:05:40
-- expect panes
--   k | n | s  | emitted_at
--   a | 1 | 1  | 12:05:00
--   a | 1 | 2  | 12:05:10
--   a | 1 | 9  | 12:05:20
--   a | 2 | 12 | 12:05:40

CREATE STREAM repeat_until_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE repeat_until AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM repeat_until_source
GROUP BY k
WINDOW GLOBAL
TRIGGER REPEAT EVERY ROW UNTIL WHEN (v = 9) THEN EVERY 2 ROWS
DISCARDING;

SELECT * FROM panes('repeat_until');
