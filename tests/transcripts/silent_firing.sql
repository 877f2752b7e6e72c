-- The watermark reaches the end with nothing new: no pane, and yet EARLY is over. Two late rows make a pane, one does not.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:20
--   a | 4 | 12:00:03   | 12:05:30
-- watermark
--   at       | to
--   12:05:10 | 12:00:10
-- expect panes
--   k | n | s | window_start | timing | index | emitted_at
--   a | 1 | 1 | 12:00:00     | EARLY  | 0     | 12:05:00
--   a | 3 | 7 | 12:00:00     | LATE   | 1     | 12:05:30

CREATE STREAM silent_firing_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE silent_firing AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM silent_firing_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK EARLY EVERY ROW LATE EVERY 2 ROWS
ACCUMULATING;

SELECT * FROM panes('silent_firing');
