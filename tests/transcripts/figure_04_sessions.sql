-- The Dataflow Model, figure 4: sessions per key; the row that comes out of order joins the first one. [points 5, 6]
-- rows
--   k | v | event_time | arrival
--   k1 | 1 | 13:02:00 | 14:30:01
--   k2 | 2 | 13:14:00 | 14:30:02
--   k1 | 3 | 13:57:00 | 14:30:03
--   k1 | 4 | 13:20:00 | 14:30:04
-- expect t
--   k | n | s | window_start | window_end
--   k1 | 2 | 5 | 13:02:00 | 13:50:00
--   k1 | 1 | 3 | 13:57:00 | 14:27:00
--   k2 | 1 | 2 | 13:14:00 | 13:44:00

CREATE STREAM figure_04_sessions_source (k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP)
USING replay OPTIONS (path '${data}/rows.json', format 'json', arrival 'arrival', watermark 'none');

CREATE STREAMING TABLE figure_04_sessions AS
SELECT k, count(*) AS n, sum(v) AS s, window_start, window_end
FROM STREAM figure_04_sessions_source
GROUP BY k
WINDOW SESSIONS (event_time, GAP INTERVAL 30 MINUTES)
TRIGGER EVERY 1 ROWS
RETRACTING;

DRAIN STREAMING TABLE figure_04_sessions;

SELECT * FROM panes('figure_04_sessions');
