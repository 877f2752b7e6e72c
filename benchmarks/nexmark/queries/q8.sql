-- Who signed up and opened an auction within the same ten seconds.
CREATE STREAMING TABLE q8 AS
SELECT person, max(name) AS name, count(auction) AS auctions, window_start
FROM (
  SELECT id AS person, name, CAST(NULL AS BIGINT) AS auction, at FROM STREAM person
  UNION ALL
  SELECT seller, NULL, id, at FROM STREAM auction
)
GROUP BY person
HAVING max(name) IS NOT NULL AND count(auction) > 0
WINDOW FIXED (at, SIZE INTERVAL 10 SECONDS);
