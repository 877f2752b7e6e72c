CREATE STREAMING TABLE q11 AS
SELECT bidder, count(*) AS bids, window_start, window_end
FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(`at`), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;
