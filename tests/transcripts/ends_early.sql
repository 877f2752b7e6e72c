-- A batch that has seen enough: one answer at the threshold, the rest is kept aside. [point 25]
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01 | 12:05:00
--   a | 2 | 12:00:02 | 12:05:10
--   a | 4 | 12:00:03 | 12:05:20
--   a | 8 | 12:00:04 | 12:05:30
-- expect panes
--   k | n | s | timing | index | emitted_at
--   a | 3 | 7 | EARLY | 0 | 12:05:20
-- expect late
--   k | v | why | at
--   a | 8 | FINISHED | 12:05:30

CREATE STREAM ends_early_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE ends_early AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM ends_early_source
GROUP BY k
WINDOW GLOBAL
TRIGGER ONCE (WHEN (count(*) >= 3));

DRAIN STREAMING TABLE ends_early;

SELECT * FROM panes('ends_early');
