-- A window that closes emits what it still holds, though its trigger never fired; lateness 5 seconds.
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:01   | 12:05:00
--   a | 2 | 12:00:02   | 12:05:00
--   a | 4 | 12:00:03   | 12:05:30
-- watermark
--   at       | to
--   12:05:10 | 12:00:10
--   12:05:20 | 12:00:15
-- expect panes
--   k | n | s | window_start | timing | index | emitted_at | watermark
--   a | 2 | 3 | 12:00:00     | LATE   | 0     | 12:05:20   | 12:00:15
-- expect late
--   k | v | window_start | window_end | at
--   a | 4 | 12:00:00     | 12:00:10   | 12:05:30

CREATE STREAM closing_emits_leftovers_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE closing_emits_leftovers AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM closing_emits_leftovers_source
GROUP BY k
WINDOW FIXED (event_time, SIZE INTERVAL 10 SECONDS)
TRIGGER EVERY 5 ROWS
ACCUMULATING
ALLOWED LATENESS INTERVAL 5 SECONDS;

SELECT * FROM panes('closing_emits_leftovers');
