CREATE STREAMING TABLE q1 AS
SELECT auction, bidder, CAST(0.908 * price AS DECIMAL(20, 3)) AS price, `at`, extra
FROM bid;
