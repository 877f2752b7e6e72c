CREATE STREAMING TABLE counts AS
SELECT auction, count(*) AS bids, window_start, window_end
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`at`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY auction, window_start, window_end;

CREATE STREAMING TABLE q5 AS
SELECT window_start AS `start`, bids, auction
FROM (
  SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY bids DESC, auction DESC) AS place
  FROM counts
)
WHERE place = 1;
