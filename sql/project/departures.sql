-- Departures and their mean delay per airport and hour. A pane with every report while the hour is still open
-- (EARLY), one when the watermark passes it (ON_TIME), and one for each report that comes later (LATE).
CREATE STREAMING TABLE IF NOT EXISTS departures AS
SELECT origin, window_start AS hour, count(*) AS flights, avg(dep_delay) AS mean_delay, max(dep_delay) AS worst_delay
FROM STREAM flights
WHERE departed IS NOT NULL
GROUP BY origin
WINDOW FIXED (departed, SIZE INTERVAL 1 HOUR)
TRIGGER AT WATERMARK EARLY EVERY 1 ROW LATE EVERY 1 ROW
ACCUMULATING
ALLOWED LATENESS INTERVAL 1 DAY;
