-- What each auction's bids came to on a day.
CREATE STREAMING TABLE q17 AS
SELECT
  auction, to_date(window_start) AS day, count(*) AS bids,
  count_if(price < 10000) AS low, count_if(price >= 10000 AND price < 1000000) AS middle, count_if(price >= 1000000) AS high,
  min(price) AS least, max(price) AS most, avg(price) AS mean, sum(price) AS total
FROM STREAM bid
GROUP BY auction
WINDOW FIXED (at, SIZE INTERVAL 1 DAY);
