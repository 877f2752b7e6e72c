SHOW DATABASES LIKE 'pay*'
;
SHOW SCHEMAS
;
SHOW TABLES FROM userdb LIKE 'sam*|suj'
;
SHOW TABLE EXTENDED IN default LIKE 'employee*' PARTITION (grade = 1)
;
SHOW VIEWS IN global_temp
;
SHOW COLUMNS IN customer IN salesdb
;
SHOW PARTITIONS customer PARTITION (state = 'CA')
;
SHOW TBLPROPERTIES customer ('created.by.user')
;
SHOW CREATE TABLE test AS SERDE
;
SHOW FUNCTIONS LIKE 't*'
;
SHOW USER FUNCTIONS
;
SHOW CATALOGS
;
SHOW CURRENT NAMESPACE
;
SHOW ALL FUNCTIONS
;
DESCRIBE TABLE customer
;
DESC FORMATTED customer
;
DESCRIBE TABLE EXTENDED customer PARTITION (state = 'AR')
;
DESCRIBE customer salesdb.customer.name
;
DESCRIBE EXTENDED customer AS JSON
;
DESC DATABASE EXTENDED employees
;
DESC FUNCTION EXTENDED abs
;
DESCRIBE QUERY SELECT age, sum(age) FROM person GROUP BY age
;
DESC QUERY WITH all_names_cte AS (SELECT name FROM person) SELECT * FROM all_names_cte
;
DESC QUERY VALUES(100, 'John', 10000.20D) AS employee(id, name, salary)
;
DESC QUERY TABLE person
;
DESCRIBE FROM person SELECT age
;
DESCRIBE stream
;
DESC TABLE stream
;
DESCRIBE EXTENDED stream
;
DESCRIBE TABLE stream x
;
DESCRIBE streaming
;
DESCRIBE stream.plays
;
DESCRIBE stream PARTITION (a = 1)
;
EXPLAIN SELECT k, SUM(v) FROM VALUES (1, 2), (1, 3) t(k, v) GROUP BY k
;
EXPLAIN EXTENDED SELECT * FROM trigger
;
EXPLAIN FORMATTED INSERT INTO t SELECT * FROM s
;
EXPLAIN CODEGEN SELECT 1
;
EXPLAIN COST SELECT * FROM stream
;
EXPLAIN CREATE TABLE t USING parquet AS SELECT 1
;
SET spark.sql.variable.substitute = false
;
SET -v
;
SET
;
SET TIME ZONE INTERVAL '08:30' HOUR TO MINUTE
;
SET TIME ZONE LOCAL
;
RESET spark.abc
;
SET VAR (y, z) = (SELECT 1, 2)
;
SET VARIABLE trigger = (SELECT max(late) FROM window)
;
DECLARE OR REPLACE VARIABLE x INT DEFAULT 5
;
DECLARE every = current_date()
;
DROP TEMPORARY VARIABLE IF EXISTS x
;
EXECUTE IMMEDIATE 'SELECT ? + :b; SELECT 2' USING 1, 2 AS b
;
EXECUTE IMMEDIATE sqlStr INTO a, b USING (x AS first, y AS second)
;
CACHE LAZY TABLE testCache OPTIONS ('storageLevel' 'DISK_ONLY') SELECT * FROM testData
;
CACHE TABLE stream
;
UNCACHE TABLE IF EXISTS t1
;
CLEAR CACHE
;
REFRESH TABLE tempDB.view1
;
REFRESH FUNCTION func1
;
REFRESH "hdfs://path/to/table"
;
REFRESH hdfs://path/to/table
;
ADD JAR "/path/to/some.jar"
;
ADD JAR ivy://group:module:version?transitive=true&exclude=a:b
;
ADD FILE /private/tmp/test--file.txt
;
ADD FILES "/path/to/file/abc.txt" "/path/to/another/test.txt"
;
LIST JARS /path/to/some.jar
;
LIST ARCHIVES
;
CALL system.run(1, name => 'a')
;
CALL cat.ns.proc(x => (SELECT 1))
;
COMMENT ON SCHEMA stream IS "all; streams"
