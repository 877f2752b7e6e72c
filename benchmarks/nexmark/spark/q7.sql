CREATE STREAMING TABLE q7 AS
SELECT max_by(struct(auction, price, bidder), struct(price, at, auction)) AS highest, window.start
FROM bid
GROUP BY window(at, '10 seconds');
