-- Who sells what in three states. Two streams meet per seller, and an auction is told as soon as both sides are there.
CREATE STREAMING TABLE sellers AS
SELECT seller, max(name) AS name, max(city) AS city, max(state) AS state, collect_set(auction) AS auctions
FROM (
  SELECT id AS seller, name, city, state, CAST(NULL AS BIGINT) AS auction, at
  FROM STREAM person
  WHERE state IN ('OR', 'ID', 'CA')
  UNION ALL
  SELECT seller, NULL, NULL, NULL, id, at
  FROM STREAM auction
  WHERE category = 10
)
GROUP BY seller
HAVING max(name) IS NOT NULL
TRIGGER EVERY ROW
RETRACTING;

CREATE STREAMING TABLE q3 AS
SELECT name, city, state, auction
FROM STREAM sellers
LATERAL VIEW explode(auctions) AS auction;
