-- EARLY below the end, ON_TIME in the step in which the watermark reaches it (a row of that step counts), LATE after.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:10
--   a | 4 | 12:00:03   | 12:05:20
-- watermark
--   at       | to
--   12:05:10 | 12:00:10
-- expect panes
--   k | n | s | window_start | window_end | timing  | index | emitted_at | watermark
--   a | 1 | 1 | 12:00:00     | 12:00:10   | EARLY   | 0     | 12:05:00   | NULL
--   a | 2 | 3 | 12:00:00     | 12:00:10   | ON_TIME | 1     | 12:05:10   | 12:00:10
--   a | 3 | 7 | 12:00:00     | 12:00:10   | LATE    | 2     | 12:05:20   | 12:00:10

CREATE STREAM timing_of_panes_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE timing_of_panes AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM timing_of_panes_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK EARLY EVERY ROW LATE EVERY ROW
ACCUMULATING;

SELECT * FROM panes('timing_of_panes');
