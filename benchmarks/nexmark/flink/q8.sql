CREATE STREAMING TABLE met AS
SELECT id AS person, name, CAST(NULL AS BIGINT) AS auction, `at` FROM person
UNION ALL
SELECT seller, CAST(NULL AS STRING), id, `at` FROM auction;

CREATE STREAMING TABLE q8 AS
SELECT person, max(name) AS name, count(auction) AS auctions, window_start
FROM TABLE(TUMBLE(TABLE met, DESCRIPTOR(`at`), INTERVAL '10' SECOND))
GROUP BY person, window_start, window_end
HAVING max(name) IS NOT NULL AND count(auction) > 0;
