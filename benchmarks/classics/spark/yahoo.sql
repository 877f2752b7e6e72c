CREATE STREAMING TABLE yahoo AS
SELECT campaign, count(*) AS views, window.start
FROM visit
JOIN campaigns USING (advertisement)
WHERE action = 'view'
GROUP BY campaign, window(at, '10 seconds');
