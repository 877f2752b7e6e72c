-- Cancelled flights have no departure, hence no place in a window of departures: a branch of their own, stateless.
CREATE STREAMING TABLE IF NOT EXISTS cancelled AS
SELECT scheduled, carrier, flight, origin, dest, reported
FROM STREAM flights
WHERE departed IS NULL;
