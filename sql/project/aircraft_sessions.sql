-- Sessions: an aircraft is busy at New York as long as less than six hours pass between two of its departures.
CREATE STREAMING TABLE IF NOT EXISTS aircraft_sessions AS
SELECT tailnum, window_start AS first_departure, window_end - INTERVAL 6 HOURS AS last_departure,
  count(*) AS flights, sum(distance) AS miles, max(dep_delay) AS worst_delay
FROM STREAM flights
WHERE departed IS NOT NULL
GROUP BY tailnum
WINDOW SESSIONS (departed, GAP INTERVAL 6 HOURS)
TRIGGER AT WATERMARK EARLY EVERY 1 ROW LATE EVERY 1 ROW;
