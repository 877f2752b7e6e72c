-- Each campaign's views in ten seconds.
CREATE STREAMING TABLE yahoo AS
SELECT campaign, count(*) AS views, window_start AS start
FROM STREAM visit
JOIN campaigns USING (advertisement)
WHERE action = 'view'
GROUP BY campaign
WINDOW FIXED (at, SIZE INTERVAL 10 SECONDS)
ALLOWED LATENESS INTERVAL 0 SECONDS;
