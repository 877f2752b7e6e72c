CREATE STREAMING TABLE q11 AS
SELECT bidder, count(*) AS bids, session_window.start, session_window.end
FROM bid
GROUP BY bidder, session_window(at, '10 seconds');
