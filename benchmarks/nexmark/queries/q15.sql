-- Bids, bidders and auctions of each day by how high the bids are.
CREATE STREAMING TABLE q15 AS
SELECT
  to_date(window_start) AS day, count(*) AS bids,
  count_if(price < 10000) AS low, count_if(price >= 10000 AND price < 1000000) AS middle, count_if(price >= 1000000) AS high,
  count(DISTINCT bidder) AS bidders, count(DISTINCT bidder) FILTER (WHERE price < 10000) AS low_bidders,
  count(DISTINCT auction) AS auctions, count(DISTINCT auction) FILTER (WHERE price >= 1000000) AS high_auctions
FROM STREAM bid
WINDOW FIXED (at, SIZE INTERVAL 1 DAY);
