-- WHEN over a row is about the rows since the last pane, WHEN over an aggregate about what the next pane would hold; NULL does not hold.
-- level: full
-- rows
--   k | v    | event_time | arrival
--   a | 9    | 12:00:00   | 12:05:00
--   a | 1    | 12:00:00   | 12:05:10
--   b | NULL | 12:00:00   | 12:05:00
--   b | 9    | 12:00:00   | 12:05:10
-- expect panes
--   k | n | s  | emitted_at
--   a | 1 | 9  | 12:05:00
--   a | 2 | 10 | 12:05:10
--   b | 2 | 9  | 12:05:10

CREATE STREAM punctuation_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE punctuation AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM punctuation_source
GROUP BY k
WINDOW GLOBAL
TRIGGER WHEN (v = 9) OR WHEN (sum(v) > 9)
ACCUMULATING;

SELECT * FROM panes('punctuation');
