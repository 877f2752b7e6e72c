CREATE STREAMING TABLE words AS
SELECT word, `at`
FROM line CROSS JOIN UNNEST(SPLIT(text, ' ')) AS listed (word);

CREATE STREAMING TABLE wordcount AS
SELECT word, count(*) AS times, window_start AS `start`
FROM TABLE(HOP(TABLE words, DESCRIPTOR(`at`), INTERVAL '10' SECOND, INTERVAL '30' SECOND))
GROUP BY word, window_start, window_end;
