-- The ten most frequent words of the last thirty seconds, every ten seconds.
CREATE STREAMING TABLE counted AS
SELECT word, count(*) AS times, window_start AS start
FROM STREAM line
LATERAL VIEW explode(split(text, ' ')) AS word
GROUP BY word
WINDOW SLIDING (at, SIZE INTERVAL 30 SECONDS, EVERY INTERVAL 10 SECONDS)
ALLOWED LATENESS INTERVAL 0 SECONDS;

CREATE STREAMING TABLE topk AS
SELECT start, max_by(word, struct(times, word), 10) AS words
FROM STREAM counted
GROUP BY start
WINDOW FIXED (start, SIZE INTERVAL 10 SECONDS)
ALLOWED LATENESS INTERVAL 0 SECONDS;
