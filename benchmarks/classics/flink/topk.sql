CREATE STREAMING TABLE words AS
SELECT word, `at`
FROM line CROSS JOIN UNNEST(SPLIT(text, ' ')) AS listed (word);

CREATE STREAMING TABLE counted AS
SELECT word, count(*) AS times, window_start, window_end
FROM TABLE(HOP(TABLE words, DESCRIPTOR(`at`), INTERVAL '10' SECOND, INTERVAL '30' SECOND))
GROUP BY word, window_start, window_end;

CREATE STREAMING TABLE ranked AS
SELECT *
FROM (
  SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY times DESC, word DESC) AS place
  FROM counted
)
WHERE place <= 10;

CREATE STREAMING TABLE topk AS
SELECT window_start AS `start`, array_agg(word) AS words
FROM ranked
GROUP BY window_start, window_end;
