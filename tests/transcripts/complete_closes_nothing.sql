-- Under 'complete' every step runs to the end of time, no row is late and nothing closes before DRAIN: the odd row waits for it.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:05   | 12:05:00
--   a | 2 | 12:00:06   | 12:05:00
--   a | 4 | 12:00:00   | 12:05:10
--   b | 8 | 12:00:00   | 12:05:20
-- expect panes
--   k | n | s | timing  | index | emitted_at | watermark
--   a | 2 | 3 | ON_TIME | 0     | 12:05:00   | end
--   a | 3 | 7 | ON_TIME | 1     | 12:05:20   | end
--   b | 1 | 8 | ON_TIME | 0     | 12:05:20   | end

CREATE STREAM complete_closes_nothing_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'complete');

CREATE STREAMING TABLE complete_closes_nothing AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM complete_closes_nothing_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER EVERY 2 ROWS
ACCUMULATING
ALLOWED LATENESS INTERVAL 0 SECONDS;

DRAIN STREAMING TABLE complete_closes_nothing;

SELECT * FROM panes('complete_closes_nothing');
