-- Bids on some auctions.
CREATE STREAMING TABLE q2 AS
SELECT auction, price
FROM STREAM bid
WHERE auction % 123 = 0;
