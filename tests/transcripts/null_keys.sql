-- NULL keys are one group, also for sessions; a NULL value counts as a row and adds nothing; a NULL timestamp is a bad row.
-- rows
--   k    | v    | event_time | arrival
--   NULL | 1    | 12:00:00   | 12:05:00
--   NULL | NULL | 12:00:05   | 12:05:10
--   a    | 2    | 12:00:03   | 12:05:00
--   b    | NULL | 12:00:00   | 12:05:00
--   b    | 3    | NULL       | 12:05:00
-- expect panes
--   k    | n | s    | window_start | window_end
--   NULL | 2 | 1    | 12:00:00     | 12:00:15
--   a    | 1 | 2    | 12:00:03     | 12:00:13
--   b    | 1 | NULL | 12:00:00     | 12:00:10
-- expect bad
--   k | v
--   b | 3

CREATE STREAM null_keys_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE null_keys AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM null_keys_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS);

DRAIN STREAMING TABLE null_keys;

SELECT * FROM panes('null_keys');
