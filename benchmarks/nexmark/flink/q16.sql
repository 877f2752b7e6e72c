CREATE STREAMING TABLE q16 AS
SELECT
  channel, CAST(window_start AS DATE) AS `day`, max(date_format(`at`, 'HH:mm')) AS `minute`, count(*) AS bids,
  count(*) FILTER (WHERE price < 10000) AS low,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS middle,
  count(*) FILTER (WHERE price >= 1000000) AS high,
  count(DISTINCT bidder) AS bidders, count(DISTINCT auction) AS auctions
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`at`), INTERVAL '1' DAY))
GROUP BY channel, window_start, window_end;
