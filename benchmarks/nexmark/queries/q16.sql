-- The same by channel, with the last minute that had a bid.
CREATE STREAMING TABLE q16 AS
SELECT
  channel, to_date(window_start) AS day, max(date_format(at, 'HH:mm')) AS minute, count(*) AS bids,
  count_if(price < 10000) AS low, count_if(price >= 10000 AND price < 1000000) AS middle, count_if(price >= 1000000) AS high,
  count(DISTINCT bidder) AS bidders, count(DISTINCT auction) AS auctions
FROM STREAM bid
GROUP BY channel
WINDOW FIXED (at, SIZE INTERVAL 1 DAY);
