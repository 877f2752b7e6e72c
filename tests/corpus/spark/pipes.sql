FROM t |> WHERE a > 1 |> SELECT a, b AS c |> ORDER BY c |> LIMIT 10
;
FROM customer
|> LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%unusual%packages%'
|> AGGREGATE COUNT(o_orderkey) c_count GROUP BY c_custkey
|> AGGREGATE COUNT(*) AS custdist GROUP BY c_count
|> ORDER BY custdist DESC, c_count DESC
;
FROM t |> EXTEND a + 1 AS b |> SET a = a * 2 |> DROP c |> AS u |> SELECT u.a
;
FROM t |> PIVOT (sum(x) FOR y IN (1, 2)) |> UNPIVOT (v FOR n IN (`1`, `2`)) |> TABLESAMPLE (10 PERCENT)
;
SELECT * FROM t |> UNION ALL (SELECT * FROM u) |> EXCEPT (TABLE v) |> INTERSECT DISTINCT (FROM w)
;
TABLE t |> WHERE EXISTS (FROM u |> WHERE u.a = t.a) |> LIMIT 5 OFFSET 2
;
FROM t |> SELECT a, sum(b) OVER w AS s WINDOW w AS (PARTITION BY a)
;
VALUES (0), (1) tab(col) |> SELECT col * 2 AS result
;
(SELECT a FROM t) |> WHERE a = 1
;
FROM stream |> WHERE trigger > 1 |> AGGREGATE sum(late) AS every GROUP BY window |> SELECT every
;
INSERT INTO t FROM s |> WHERE a > 1
;
FROM t |> JOIN LATERAL explode(x) AS e(y) |> SELECT y
