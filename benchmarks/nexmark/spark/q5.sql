CREATE STREAMING TABLE counts AS
SELECT auction, count(*) AS bids, window
FROM bid
GROUP BY auction, window(at, '10 seconds', '2 seconds');

CREATE STREAMING TABLE q5 AS
SELECT window(window, '2 seconds').start, max(bids) AS bids, max_by(auction, struct(bids, auction)) AS auction
FROM counts
GROUP BY window(window, '2 seconds');
