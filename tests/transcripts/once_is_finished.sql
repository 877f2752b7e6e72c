-- TRIGGER ONCE: rows for a window whose trigger is through join nothing and are kept.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:10
--   a | 4 | 12:00:03   | 12:05:20
--   a | 8 | 12:00:11   | 12:05:20
-- expect panes
--   k | n | s | window_start | timing  | emitted_at
--   a | 2 | 3 | 12:00:00     | EARLY   | 12:05:10
--   a | 1 | 8 | 12:00:10     | ON_TIME | 12:05:20
-- expect late
--   k | v | window_start | window_end | why      | at
--   a | 4 | 12:00:00     | 12:00:10   | FINISHED | 12:05:20

CREATE STREAM once_is_finished_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE once_is_finished AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM once_is_finished_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER ONCE (AFTER 2 ROWS)
ACCUMULATING;

DRAIN STREAMING TABLE once_is_finished;

SELECT * FROM panes('once_is_finished');
