-- Every bid as it is: what it costs to pass through.
CREATE STREAMING TABLE q0 AS
SELECT auction, bidder, price, at, extra
FROM STREAM bid;
