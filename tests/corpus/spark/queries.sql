SELECT 1
;
SELECT city, count(DISTINCT car_model) AS count FROM dealer GROUP BY city
;
SELECT id, sum(quantity) FILTER (WHERE car_model IN ('Honda Civic', 'Honda CRV')) AS `sum(quantity)` FROM dealer GROUP BY id ORDER BY id
;
SELECT city, car_model, sum(quantity) AS sum FROM dealer GROUP BY GROUPING SETS ((city, car_model), (city), (car_model), ()) ORDER BY city
;
SELECT city, car_model, sum(quantity) AS sum FROM dealer GROUP BY city, car_model WITH ROLLUP ORDER BY city, car_model
;
SELECT city, car_model, sum(quantity) AS sum FROM dealer GROUP BY city, car_model WITH CUBE ORDER BY city, car_model
;
SELECT city, grouping(city), grouping_id() FROM dealer GROUP BY ROLLUP (city), CUBE (car_model, id)
;
SELECT city, sum(q) FROM dealer GROUP BY ALL
;
SELECT city, sum(quantity) AS sum FROM dealer GROUP BY city HAVING city = 'Fremont'
;
SELECT sum(quantity) AS sum FROM dealer HAVING sum(quantity) > 10
;
SELECT name, age FROM person ORDER BY name ASC NULLS LAST, age DESC
;
SELECT * FROM person ORDER BY ALL DESC NULLS FIRST
;
SELECT /*+ REPARTITION(zip_code) */ name, age, zip_code FROM person SORT BY name NULLS LAST
;
SELECT /*+ BROADCAST(t1), MERGE(t2, t3) */ * FROM t1 INNER JOIN t2 ON t1.key = t2.key
;
SELECT /*+ COALESCE(3) */ /*+ REBALANCE(3, c) */ * FROM t
;
SELECT /*+ SKEW('orders', 'o_custId') , SHUFFLE_HASH(t1) */ DISTINCT a FROM t1 CROSS JOIN t2
;
SELECT age, name FROM person CLUSTER BY age
;
SELECT age, name FROM person DISTRIBUTE BY age SORT BY age
;
SELECT name, age FROM person ORDER BY name LIMIT length('SPARK') OFFSET 1
;
SELECT name FROM person LIMIT ALL
;
SELECT * FROM person WHERE id BETWEEN 200 AND 300 ORDER BY id
;
SELECT * FROM person AS parent WHERE EXISTS (SELECT 1 FROM person AS child WHERE parent.id = child.id AND child.age IS NULL)
;
SELECT * FROM person WHERE name LIKE ANY ('A%', '%e') OR name NOT LIKE ALL ('b%') AND name RLIKE '^M+' AND a ILIKE 'x' ESCAPE '!'
;
SELECT a FROM t WHERE a IS DISTINCT FROM b AND c IS NOT DISTINCT FROM d AND NOT e <=> f
;
SELECT a IS DISTINCT FROM b AS differs FROM t
;
SELECT id, name, employee.deptno, deptname FROM employee INNER JOIN department ON employee.deptno = department.deptno
;
SELECT * FROM employee LEFT OUTER JOIN department USING (deptno) FULL JOIN x ON true RIGHT JOIN y ON y.a = x.a LEFT SEMI JOIN z ON z.b = y.b ANTI JOIN w ON w.c = z.c
;
SELECT * FROM a NATURAL JOIN b NATURAL LEFT JOIN c, d CROSS JOIN e
;
SELECT * FROM (a JOIN b ON a.x = b.x) LEFT JOIN (c CROSS JOIN d) ON true
;
SELECT * FROM ((SELECT 1 AS a) UNION (SELECT 2)) AS u
;
SELECT * FROM ((a JOIN b) JOIN c)
;
SELECT * FROM t1, LATERAL (SELECT * FROM t2 WHERE t1.c1 = t2.c1)
;
SELECT * FROM t JOIN LATERAL explode(t.items) AS e(item) ON true
;
SELECT a, b, c FROM t1, LATERAL (SELECT c1 + c2 AS a), LATERAL (SELECT c1 - c2 AS b), LATERAL (SELECT a * b AS c)
;
SELECT * FROM person LATERAL VIEW EXPLODE(ARRAY(30, 60)) tableName AS c_age LATERAL VIEW EXPLODE(ARRAY(40, 80)) AS d_age
;
SELECT c_age, COUNT(1) FROM person LATERAL VIEW OUTER posexplode(ARRAY()) t AS pos, c_age WHERE pos > 1 GROUP BY c_age
;
SELECT * FROM person PIVOT (SUM(age) AS a, AVG(class) AS c FOR name IN ('John' AS john, 'Mike' AS mike))
;
SELECT * FROM person PIVOT (SUM(age) AS a FOR (name, age) IN (('John', 30) AS c1, ('Mike', 40) AS c2)) AS p
;
SELECT * FROM sales_quarterly UNPIVOT (sales FOR quarter IN (q1, q2 AS `Q 2`, q3)) AS u
;
SELECT up.* FROM sales UNPIVOT EXCLUDE NULLS ((first, second) FOR half IN ((q1, q2) AS h1, (q3, q4) AS h2)) up WHERE up.first > 1
;
SELECT * FROM test TABLESAMPLE (50 PERCENT)
;
SELECT * FROM test TABLESAMPLE (5 ROWS) AS s
;
SELECT * FROM test TABLESAMPLE (BUCKET 4 OUT OF 10) s JOIN u TABLESAMPLE (10 PERCENT) REPEATABLE (42) ON s.a = u.a
;
SELECT c FROM number1 EXCEPT SELECT c FROM number2
;
SELECT c FROM number1 MINUS ALL SELECT c FROM number2 INTERSECT DISTINCT SELECT c FROM n3
;
(SELECT c FROM number1) UNION ALL (SELECT c FROM number2) ORDER BY c LIMIT 3
;
SELECT a FROM t UNION ALL SELECT a FROM u
;
(SELECT 1) UNION VALUES (2), (3) UNION TABLE t
;
((SELECT 1))
;
SELECT * EXCEPT (a, b) FROM t
;
SELECT t.* EXCEPT (a), u.*, struct(*) FROM t, u
;
WITH t AS (SELECT 1), t2(x, y) AS (SELECT * FROM t) SELECT * FROM t, t2
;
WITH t(x) AS (WITH t2(y) AS (SELECT 1) SELECT * FROM t2) SELECT * FROM t
;
WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r
;
WITH RECURSIVE r MAX RECURSION LEVEL 200 AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 150) SELECT sum(n) FROM r
;
SELECT (WITH t AS (SELECT 1) SELECT * FROM t) AS x
;
VALUES ("one", array(0, 1)), ("three", array(0, 2)) AS data(a, b)
;
SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, name) WHERE id > 1
;
SELECT * FROM VALUES 1, 2, 3
;
TABLE students
;
FROM person
;
FROM person SELECT name, age WHERE age > 10 ORDER BY age
;
SELECT * FROM range(5, 10, 2, 3) AS r(x)
;
SELECT * FROM explode(array(10, 20)) AS e(item)
;
SELECT * FROM my_udtf(TABLE (t) PARTITION BY a ORDER BY b, x => 1, y => (SELECT max(z) FROM u))
;
SELECT * FROM my_udtf(TABLE (t) WITH SINGLE PARTITION) f JOIN TABLE(range(3)) g ON true
;
SELECT * FROM IDENTIFIER('my' || '_table') AS i
;
SELECT IDENTIFIER(:col), :a + :b, ? FROM IDENTIFIER(:tab) WHERE x = :x LIMIT :n
;
SELECT * FROM parquet.`/data/a;b.parquet` p, csv.`dir/*.csv`
;
SELECT * FROM events VERSION AS OF 5
;
SELECT * FROM events TIMESTAMP AS OF '2020-01-01' AS e JOIN events FOR SYSTEM_VERSION AS OF 3 AS f ON e.id = f.id
;
SELECT * FROM events FOR SYSTEM_TIME AS OF current_timestamp() - INTERVAL 1 DAY WHERE a = 1
;
SELECT name, dept, RANK() OVER (PARTITION BY dept ORDER BY salary) AS rank FROM employees
;
SELECT name, sum(x) OVER w, lag(a) IGNORE NULLS OVER (PARTITION BY z ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY a ORDER BY b)
;
SELECT a, sum(b) OVER w1 s, avg(b) OVER w2 FROM t WHERE b > 0 WINDOW w1 AS (PARTITION BY a), w2 AS (ORDER BY c RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY a LIMIT 5
;
SELECT a, max(b) OVER fixed FROM t GROUP BY a HAVING max(a) > 1 WINDOW fixed AS (ORDER BY a)
;
SELECT a FROM t WINDOW global AS (ORDER BY a)
;
SELECT transform(array(1, 2, 3), x -> x + 1), aggregate(a, 0, (acc, x) -> acc + x, acc -> acc * 10), filter(m, (k, v) -> k > v)
;
SELECT CASE WHEN a > 1 THEN 'x' WHEN b THEN CASE c WHEN 1 THEN 2 END ELSE 'z' END AS d, CASE a WHEN 1 THEN 'one' END FROM t
;
SELECT a::INT, b::array<int> x, c :: MAP<STRING, ARRAY<INT>>, CAST(d AS DECIMAL(10, 2)), TRY_CAST(e AS STRUCT<a: INT>) FROM t
;
SELECT v:a.b[0]::int, v:`x y`, v['k'], s.a.b, a[1][2] FROM variants
;
SELECT date'2020-01-01', TIMESTAMP '2020-01-01 00:00:00', X'1F', 10BD, 1L, 2S, 3Y, 1.5e3, .5, 3.D, -1, 1e-3F, INTERVAL '1-2' YEAR TO MONTH
;
SELECT INTERVAL 3 DAYS 2 HOURS, INTERVAL '10' MINUTE + ts, INTERVAL -'1 02' DAY TO HOUR neg, ts - INTERVAL 5 SECONDS AS before FROM t
;
SELECT extract(DAY FROM ts), trim(BOTH 'x' FROM s), substring(s FROM 2 FOR 3), overlay(a PLACING b FROM 1), position('a' IN b), timestampadd(DAY, 1, ts)
;
SELECT 'a' 'b', "dq", r'\d+', R"raw", 'it''s', 'tab\t', "a""b"
;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x), listagg(DISTINCT a, ',') WITHIN GROUP (ORDER BY a DESC), count(*), first(a) IGNORE NULLS, mode() WITHIN GROUP (ORDER BY y) FROM t
;
SELECT named_struct('a', 1).a, map(1, 'a')[1], array(1)[0], (1, 2).col1, (SELECT max(x) FROM u) + 1
;
SELECT a FROM t WHERE (a, b) IN (SELECT x, y FROM u) AND c NOT IN (1, 2) AND d LIKE SOME ('x', 'y')
;
SELECT TRANSFORM (zip_code, name, age) USING 'cat' AS (a STRING, b STRING, c STRING) FROM person WHERE zip_code > 94500
;
SELECT TRANSFORM(a) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' USING 'cat' AS (x) ROW FORMAT DELIMITED LINES TERMINATED BY '\n' FROM t
;
FROM t MAP a, b USING 'script' AS x, y
;
FROM (FROM src SELECT TRANSFORM(key) USING 'cat' AS k CLUSTER BY k) m SELECT m.k
;
SELECT window, count(*) FROM events GROUP BY window(ts, '10 minutes', '5 minutes')
;
SELECT session_window.start, count(*) AS cnt FROM events GROUP BY session_window(ts, CASE WHEN a THEN '5 seconds' ELSE '1 minute' END), k
;
SELECT window_time(window), window.start, window.end FROM (SELECT window(ts, '1 hour') AS window FROM t) GROUP BY ALL
;
SELECT * FROM t WHERE ts > now() - INTERVAL 1 DAY AND ts < '2020-01-01'
;
SELECT a b, c AS d, e AS (f, g), `h i` `j k`, count(1) cnt, l.m n FROM t
;
SELECT -a, +b, ~c, !d, NOT e, a % b, a DIV b, a & b | c ^ d, a || b, a << 1, a >> 2, a >>> 3, a == b, a <> b, a != b FROM t
;
SELECT current_date, current_timestamp(), CURRENT_USER, session_user FROM t
;
SELECT '${spark.app.name}'
;
SELECT * FROM t1 JOIN (t2 JOIN t3 ON t2.a = t3.a) ON t1.b = t2.b
;
SELECT all_flights.*, ROW_NUMBER() OVER(ORDER BY a) rn FROM all_flights
;
SELECT collate('a', 'UTF8_LCASE') = 'A', a COLLATE UNICODE AS b FROM t
;
SELECT ALL a, DISTINCT_b FROM t
;
SELECT COUNT(DISTINCT a, b), approx_count_distinct(c, 0.05) FROM t
;
SELECT range FROM (SELECT 1 AS range) AS rows
;
SELECT a, FROM t
;
SELECT raise_error('STREAM x TRIGGER AT WATERMARK WINDOW FIXED (a, SIZE INTERVAL 1 DAY)')
