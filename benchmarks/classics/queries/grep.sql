-- How many lines have a word, each second.
CREATE STREAMING TABLE grep AS
SELECT count(*) AS lines, window_start AS start
FROM STREAM line
WHERE text LIKE '%w00042%'
WINDOW FIXED (at, SIZE INTERVAL 1 SECOND)
ALLOWED LATENESS INTERVAL 0 SECONDS;
