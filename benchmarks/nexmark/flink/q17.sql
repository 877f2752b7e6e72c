CREATE STREAMING TABLE q17 AS
SELECT
  auction, CAST(window_start AS DATE) AS `day`, count(*) AS bids,
  count(*) FILTER (WHERE price < 10000) AS low,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS middle,
  count(*) FILTER (WHERE price >= 1000000) AS high,
  min(price) AS least, max(price) AS most, avg(CAST(price AS DOUBLE)) AS mean, sum(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`at`), INTERVAL '1' DAY))
GROUP BY auction, window_start, window_end;
