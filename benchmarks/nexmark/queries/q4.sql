-- What auctions of each category are sold for on average: the highest bid while the auction ran, as it stands.
CREATE STREAMING TABLE winners AS
SELECT
  auction, max(category) AS category,
  array_max(transform(
    filter(collect_set(bid), b -> b.at BETWEEN max(opened) AND max(expires) AND b.price >= max(reserve)), b -> b.price
  )) AS price
FROM (
  SELECT id AS auction, category, reserve, at AS opened, expires, CAST(NULL AS STRUCT<price: BIGINT, at: TIMESTAMP>) AS bid, at
  FROM STREAM auction
  UNION ALL
  SELECT auction, NULL, NULL, NULL, NULL, struct(price, at), at FROM STREAM bid
)
GROUP BY auction
TRIGGER EVERY ROW
RETRACTING;

CREATE STREAMING TABLE q4 AS
SELECT category, avg(price) AS mean, count(price) AS sold
FROM STREAM winners
WHERE category IS NOT NULL
GROUP BY category
TRIGGER EVERY ROW
RETRACTING;
