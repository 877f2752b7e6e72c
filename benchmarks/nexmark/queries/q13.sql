-- Bids beside what a table knows of their auctions.
CREATE STREAMING TABLE q13 AS
SELECT bid.auction, bid.bidder, bid.price, bid.at, side.value
FROM STREAM bid AS bid JOIN side ON bid.auction % 10000 = side.key;
