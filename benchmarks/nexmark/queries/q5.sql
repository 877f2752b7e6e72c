-- The auctions with the most bids in the last ten seconds, every two seconds.
CREATE STREAMING TABLE counts AS
SELECT auction, count(*) AS bids, window_start AS start, window_end AS end
FROM STREAM bid
GROUP BY auction
WINDOW SLIDING (at, SIZE INTERVAL 10 SECONDS, EVERY INTERVAL 2 SECONDS)
ALLOWED LATENESS INTERVAL 0 SECONDS;

CREATE STREAMING TABLE q5 AS
SELECT start, max(bids) AS bids, max_by(auction, struct(bids, auction)) AS auction
FROM STREAM counts
GROUP BY start
WINDOW FIXED (start, SIZE INTERVAL 2 SECONDS);
