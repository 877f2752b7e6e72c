-- TRIGGER ONCE over sessions. Key a: a finished session keeps a row out, with the bounds they would have had together.
-- Key b: a finished and an unfinished session merge, for not all parts are finished, and the merged one fires.
-- level: full
-- rows
--   k | v | event_time | arrival
--   a | 1 | 12:00:00   | 12:05:00
--   a | 2 | 12:00:00   | 12:05:00
--   a | 4 | 12:00:05   | 12:05:20
--   b | 1 | 12:00:00   | 12:05:00
--   b | 2 | 12:00:00   | 12:05:00
--   b | 4 | 12:00:13   | 12:05:00
--   b | 8 | 12:00:05   | 12:05:20
-- expect panes
--   change | k | n | s  | window_start | window_end | emitted_at
--   insert | a | 2 | 3  | 12:00:00     | 12:00:10   | 12:05:00
--   insert | b | 2 | 3  | 12:00:00     | 12:00:10   | 12:05:00
--   delete | b | 2 | 3  | 12:00:00     | 12:00:10   | 12:05:20
--   insert | b | 4 | 15 | 12:00:00     | 12:00:23   | 12:05:20
-- expect late
--   k | v | window_start | window_end | why
--   a | 4 | 12:00:00     | 12:00:15   | FINISHED

CREATE STREAM once_and_merging_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE once_and_merging AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM once_and_merging_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 10 SECONDS)
TRIGGER ONCE (AFTER 2 ROWS)
RETRACTING;

SELECT * FROM panes('once_and_merging');
