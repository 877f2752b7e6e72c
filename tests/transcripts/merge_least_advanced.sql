-- When sessions merge the least advanced THEN wins: one side has had its first part, the other has not.
-- The merged session is at its first part, for which its two rows not yet emitted are enough; the second part waits for three.
-- level: full
-- rows
--   k | v  | event_time | arrival
--   a | 1  | 12:00:00   | 12:05:00
--   a | 2  | 12:00:01   | 12:05:00
--   a | 4  | 12:00:15   | 12:05:10
--   a | 8  | 12:00:09   | 12:05:20
--   a | 16 | 12:00:10   | 12:05:30
--   a | 32 | 12:00:11   | 12:05:40
-- expect panes
--   change | k | n | s  | window_start | window_end | index | emitted_at
--   insert | a | 2 | 3  | 12:00:00     | 12:00:11   | 0     | 12:05:00
--   delete | a | 2 | 3  | 12:00:00     | 12:00:11   | 0     | 12:05:20
--   insert | a | 4 | 15 | 12:00:00     | 12:00:25   | 0     | 12:05:20

CREATE STREAM merge_least_advanced_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE merge_least_advanced AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM merge_least_advanced_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER AFTER 2 ROWS THEN AFTER 3 ROWS
RETRACTING;

SELECT * FROM panes('merge_least_advanced');
