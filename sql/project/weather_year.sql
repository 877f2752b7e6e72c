-- A streaming table over a streaming table: adds up the panes of weather_hours, over all time.
CREATE STREAMING TABLE IF NOT EXISTS weather_year AS
SELECT sky, sum(flights) AS flights, sum(delay) AS delay, sum(delay) / sum(flights) AS mean_delay
FROM STREAM weather_hours
GROUP BY sky
WINDOW GLOBAL
TRIGGER EVERY 1 ROW;
