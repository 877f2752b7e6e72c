CREATE STREAMING TABLE grep AS
SELECT count(*) AS `lines`, window_start AS `start`
FROM TABLE(TUMBLE(TABLE line, DESCRIPTOR(`at`), INTERVAL '1' SECOND))
WHERE text LIKE '%w00042%'
GROUP BY window_start, window_end;
