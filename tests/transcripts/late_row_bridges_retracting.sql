-- A late row bridges two sessions that were emitted: one withdrawal for each, then the merged one.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:15   | 12:05:00
--   a | 4 | 12:00:08   | 12:05:20
-- watermark
--   at       | to
--   12:05:10 | 12:00:30
-- expect panes
--   change | k | n | s | window_start | window_end | timing  | index | emitted_at
--   insert | a | 1 | 1 | 12:00:00     | 12:00:10   | ON_TIME | 0     | 12:05:10
--   insert | a | 1 | 2 | 12:00:15     | 12:00:25   | ON_TIME | 0     | 12:05:10
--   delete | a | 1 | 1 | 12:00:00     | 12:00:10   | ON_TIME | 0     | 12:05:20
--   delete | a | 1 | 2 | 12:00:15     | 12:00:25   | ON_TIME | 0     | 12:05:20
--   insert | a | 3 | 7 | 12:00:00     | 12:00:25   | LATE    | 0     | 12:05:20

CREATE STREAM late_row_bridges_retracting_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark '${data}/watermark.csv');

CREATE STREAMING TABLE late_row_bridges_retracting AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM late_row_bridges_retracting_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AT WATERMARK
RETRACTING
ALLOWED LATENESS INTERVAL 1 MINUTE;

SELECT * FROM panes('late_row_bridges_retracting');
