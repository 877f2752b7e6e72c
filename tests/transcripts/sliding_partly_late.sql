-- A row may miss one of its sliding windows and still count in the other.
-- The watermark has reached 12:00:20: for the second row that window is gone, the next one is not.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:05   | 12:05:00
--   a | 2 | 12:00:15   | 12:05:10
-- watermark
--   at       | to
--   12:05:05 | 12:00:20
-- expect panes
--   k | n | s | window_start | window_end | timing  | emitted_at | watermark
--   a | 1 | 1 | 11:59:50     | 12:00:10   | ON_TIME | 12:05:05   | 12:00:20
--   a | 1 | 1 | 12:00:00     | 12:00:20   | ON_TIME | 12:05:05   | 12:00:20
--   a | 1 | 2 | 12:00:10     | 12:00:30   | ON_TIME | 12:05:10   | end
-- expect late
--   k | v | event_time | window_start | window_end | why  | at
--   a | 2 | 12:00:15   | 12:00:00     | 12:00:20   | LATE | 12:05:10

CREATE STREAM sliding_partly_late_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE sliding_partly_late AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM sliding_partly_late_source
GROUP BY k
WINDOW SLIDING (event_time, SIZE INTERVAL 20 SECONDS, EVERY INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK
ALLOWED LATENESS INTERVAL 0 SECONDS;

DRAIN STREAMING TABLE sliding_partly_late;

SELECT * FROM panes('sliding_partly_late');
