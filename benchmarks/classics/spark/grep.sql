CREATE STREAMING TABLE grep AS
SELECT count(*) AS lines, window.start
FROM line
WHERE text LIKE '%w00042%'
GROUP BY window(at, '1 second');
