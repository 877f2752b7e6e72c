-- How much each bidder did before a pause of ten seconds.
CREATE STREAMING TABLE q11 AS
SELECT bidder, count(*) AS bids, window_start, window_end
FROM STREAM bid
GROUP BY bidder
WINDOW SESSIONS (at, GAP INTERVAL 10 SECONDS);
