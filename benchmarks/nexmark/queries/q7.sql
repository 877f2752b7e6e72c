-- The highest bid of each ten seconds.
CREATE STREAMING TABLE q7 AS
SELECT max_by(struct(auction, price, bidder), struct(price, at, auction)) AS highest, window_start
FROM STREAM bid
WINDOW FIXED (at, SIZE INTERVAL 10 SECONDS);
