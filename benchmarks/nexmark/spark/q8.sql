CREATE STREAMING TABLE q8 AS
SELECT person, max(name) AS name, count(auction) AS auctions, window.start
FROM (
  SELECT id AS person, name, CAST(NULL AS BIGINT) AS auction, at FROM person
  UNION ALL
  SELECT seller, NULL, id, at FROM auction
)
GROUP BY person, window(at, '10 seconds')
HAVING max(name) IS NOT NULL AND count(auction) > 0;
