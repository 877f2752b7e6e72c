CREATE STREAMING TABLE q0 AS
SELECT auction, bidder, price, `at`, extra
FROM bid;
