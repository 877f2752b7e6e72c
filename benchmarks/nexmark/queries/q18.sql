-- The last bid of each bidder on each auction, as it stands.
CREATE STREAMING TABLE q18 AS
SELECT auction, bidder, max_by(struct(price, channel, url, at, extra), struct(at, price)) AS last
FROM STREAM bid
GROUP BY auction, bidder
TRIGGER EVERY ROW;
