CREATE STREAMING TABLE q13 AS
SELECT bid.auction, bid.bidder, bid.price, bid.`at`, side.`value`
FROM (SELECT *, mod(auction, 10000) AS `key` FROM bid) AS bid
JOIN side FOR SYSTEM_TIME AS OF bid.`at` ON bid.`key` = side.`key`;
