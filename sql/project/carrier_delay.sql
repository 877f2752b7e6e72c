-- Rolling: each carrier's last 24 hours, every hour. Neither trigger nor mode is written: AT WATERMARK, ACCUMULATING.
CREATE STREAMING TABLE IF NOT EXISTS carrier_delay AS
SELECT carrier, window_end AS at, count(*) AS flights, avg(dep_delay) AS mean_delay,
  count_if(dep_delay >= 60) AS an_hour_late
FROM STREAM flights
WHERE departed IS NOT NULL
GROUP BY carrier
WINDOW SLIDING (departed, SIZE INTERVAL 24 HOURS, EVERY INTERVAL 1 HOUR);
