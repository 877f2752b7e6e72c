-- A join with two tables before the aggregation, and DISCARDING: a pane holds what is new since the last one, so a
-- reader may add panes up. Only two hours of lateness: what comes later is in late_rows('weather_hours').
CREATE STREAMING TABLE IF NOT EXISTS weather_hours AS
SELECT coalesce(w.sky, 'unknown') AS sky,
  CASE WHEN p.seats IS NULL THEN 'unknown' WHEN p.seats < 100 THEN 'small' WHEN p.seats < 200 THEN 'medium' ELSE 'large' END AS aircraft,
  window_start AS hour, count(*) AS flights, sum(f.dep_delay) AS delay
FROM STREAM flights AS f
LEFT JOIN weather AS w ON w.origin = f.origin AND w.time_hour = date_trunc('HOUR', f.departed)
LEFT JOIN planes AS p ON p.tailnum = f.tailnum
WHERE f.departed IS NOT NULL
GROUP BY 1, 2
WINDOW FIXED (f.departed, SIZE INTERVAL 1 HOUR)
TRIGGER AT WATERMARK LATE EVERY 1 ROW
DISCARDING
ALLOWED LATENESS INTERVAL 2 HOURS;
