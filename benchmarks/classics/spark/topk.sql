CREATE STREAMING TABLE counted AS
SELECT word, count(*) AS times, window
FROM line
LATERAL VIEW explode(split(text, ' ')) AS word
GROUP BY word, window(at, '30 seconds', '10 seconds');

CREATE STREAMING TABLE topk AS
SELECT window(window, '10 seconds').start, max_by(word, struct(times, word), 10) AS words
FROM counted
GROUP BY window(window, '10 seconds');
