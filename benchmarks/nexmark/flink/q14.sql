CREATE STREAMING TABLE q14 AS
SELECT
  auction, bidder, CAST(0.908 * price AS DECIMAL(20, 3)) AS price,
  CASE WHEN hour(`at`) BETWEEN 8 AND 18 THEN 'day' WHEN hour(`at`) <= 6 OR hour(`at`) >= 20 THEN 'night' ELSE 'other' END AS part,
  `at`, extra, char_length(extra) - char_length(replace(extra, 'c', '')) AS cs
FROM bid
WHERE 0.908 * price BETWEEN 1000000 AND 50000000;
