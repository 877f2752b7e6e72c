-- HAVING hides a pane, not its firing: the index goes on, and what stood leaves t.
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:01   | 12:05:00
--   a | 9  | 12:00:02   | 12:05:10
--   a | -8 | 12:00:03   | 12:05:20
--   b | 1  | 12:00:01   | 12:05:00
--   b | 9  | 12:00:02   | 12:05:10
-- expect panes
--   k | n | s | index | emitted_at
--   a | 1 | 1 | 0     | 12:05:00
--   b | 1 | 1 | 0     | 12:05:00
--   a | 3 | 2 | 2     | 12:05:20
-- expect t
--   k | n | s
--   a | 3 | 2

CREATE STREAM having_hides_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE having_hides AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM having_hides_source
GROUP BY k
HAVING sum(v) < 5
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER EVERY ROW
ACCUMULATING;

SELECT * FROM panes('having_hides');
