-- Under DISCARDING the panes together are the answer, the leftover at the end included, and t is all of them.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:10
--   a | 5 | 12:00:03   | 12:05:20
-- expect panes
--   k | n | s | window_start | timing  | index | emitted_at
--   a | 2 | 3 | 12:00:00     | EARLY   | 0     | 12:05:10
--   a | 1 | 5 | 12:00:00     | ON_TIME | 1     | 12:05:20
-- expect t
--   k | n | s
--   a | 2 | 3
--   a | 1 | 5

CREATE STREAM discarding_sums_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE discarding_sums AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM discarding_sums_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER EVERY 2 ROWS
DISCARDING;

DRAIN STREAMING TABLE discarding_sums;

SELECT * FROM panes('discarding_sums');
