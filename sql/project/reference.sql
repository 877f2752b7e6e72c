-- What the streams are joined with: plain Delta tables, from the package's CSV files.
CREATE TEMPORARY VIEW airlines_csv USING csv
OPTIONS (path 'demo-data/reference/airlines.csv', header 'true');
CREATE TEMPORARY VIEW airports_csv (faa STRING, name STRING, lat DOUBLE, lon DOUBLE, alt INT, tz INT, dst STRING, tzone STRING) USING csv
OPTIONS (path 'demo-data/reference/airports.csv', header 'true', nullValue 'NA');
CREATE TEMPORARY VIEW planes_csv (tailnum STRING, year INT, type STRING, manufacturer STRING, model STRING, engines INT, seats INT, speed INT, engine STRING) USING csv
OPTIONS (path 'demo-data/reference/planes.csv', header 'true', nullValue 'NA');
CREATE TEMPORARY VIEW weather_csv (origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE, wind_dir DOUBLE, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE, time_hour TIMESTAMP) USING csv
OPTIONS (path 'demo-data/reference/weather.csv', header 'true', nullValue 'NA');

CREATE TABLE IF NOT EXISTS airlines AS SELECT carrier, name FROM airlines_csv;
CREATE TABLE IF NOT EXISTS airports AS SELECT faa, name, lat, lon, alt, tzone FROM airports_csv;
CREATE TABLE IF NOT EXISTS planes AS SELECT tailnum, year AS built, manufacturer, model, engine, seats FROM planes_csv;

-- One row per airport and hour, with one word for it.
CREATE TABLE IF NOT EXISTS weather AS
SELECT origin, time_hour, temp, wind_speed, precip, visib,
  CASE WHEN visib < 2 THEN 'fog'
       WHEN precip > 0 THEN 'rain'
       WHEN wind_speed >= 20 THEN 'wind'
       ELSE 'fair' END AS sky
FROM weather_csv;
