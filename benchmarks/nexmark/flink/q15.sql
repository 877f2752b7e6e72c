CREATE STREAMING TABLE q15 AS
SELECT
  CAST(window_start AS DATE) AS `day`, count(*) AS bids,
  count(*) FILTER (WHERE price < 10000) AS low,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS middle,
  count(*) FILTER (WHERE price >= 1000000) AS high,
  count(DISTINCT bidder) AS bidders, count(DISTINCT bidder) FILTER (WHERE price < 10000) AS low_bidders,
  count(DISTINCT auction) AS auctions, count(DISTINCT auction) FILTER (WHERE price >= 1000000) AS high_auctions
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`at`), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
