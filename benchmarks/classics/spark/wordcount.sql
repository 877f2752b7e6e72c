CREATE STREAMING TABLE wordcount AS
SELECT word, count(*) AS times, window.start
FROM line
LATERAL VIEW explode(split(text, ' ')) AS word
GROUP BY word, window(at, '30 seconds', '10 seconds');
