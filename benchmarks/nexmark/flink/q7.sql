CREATE STREAMING TABLE q7 AS
SELECT ROW(auction, price, bidder) AS highest, window_start
FROM (
  SELECT *, row_number() OVER (PARTITION BY window_start, window_end ORDER BY price DESC, `at` DESC, auction DESC) AS place
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`at`), INTERVAL '10' SECOND))
)
WHERE place = 1;
