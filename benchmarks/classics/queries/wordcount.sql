-- How often each word came in the last thirty seconds, every ten seconds.
CREATE STREAMING TABLE wordcount AS
SELECT word, count(*) AS times, window_start AS start
FROM STREAM line
LATERAL VIEW explode(split(text, ' ')) AS word
GROUP BY word
WINDOW SLIDING (at, SIZE INTERVAL 30 SECONDS, EVERY INTERVAL 10 SECONDS)
ALLOWED LATENESS INTERVAL 0 SECONDS;
