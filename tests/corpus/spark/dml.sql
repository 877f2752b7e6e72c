INSERT INTO students VALUES ('Amy Smith', '123 Park Ave, San Jose', 111111)
;
INSERT INTO students VALUES ('Bob Brown', '456 Taylor St, Cupertino', 222222), ('Cathy Johnson', '789 Race Ave, Palo Alto', 333333)
;
INSERT INTO students PARTITION (student_id = 444444) SELECT name, address FROM persons WHERE name = "Dora Williams"
;
INSERT INTO students TABLE visiting_students
;
INSERT INTO students FROM applicants SELECT name, address, student_id WHERE qualified = true
;
INSERT INTO students (address, name, student_id) VALUES ('Hangzhou, China', 'Kent Yao', 11215016)
;
INSERT INTO students PARTITION (student_id = 11215017) (address, name) VALUES ('Hangzhou, China', 'Kent Yao Jr.')
;
INSERT OVERWRITE students PARTITION (student_id = 222222) SELECT name, address FROM persons WHERE name = "Dora Williams"
;
INSERT OVERWRITE TABLE students SELECT * FROM s2
;
INSERT INTO persons2 BY NAME SELECT ssn, name FROM persons
;
INSERT INTO persons REPLACE WHERE ssn = 123456789 SELECT * FROM persons2
;
INSERT WITH SCHEMA EVOLUTION INTO t SELECT 1
;
INSERT INTO t REPLACE USING (a, b) SELECT * FROM s
;
INSERT INTO t AS x REPLACE ON x.a = y.a (SELECT * FROM s) AS y
;
INSERT INTO TABLE t (SELECT 1)
;
INSERT INTO t WITH c AS (SELECT 1 AS a) SELECT * FROM c
;
WITH c AS (SELECT 1 AS a) INSERT INTO t SELECT * FROM c
;
WITH c AS (SELECT 1 AS a) FROM c INSERT INTO t SELECT * INSERT INTO u SELECT a + 1
;
FROM t INSERT INTO a SELECT * WHERE x > 1 INSERT OVERWRITE TABLE b PARTITION (p = 1) SELECT y GROUP BY y
;
FROM (SELECT * FROM t) s INSERT INTO a SELECT s.x
;
INSERT OVERWRITE DIRECTORY '/tmp/destination' USING parquet OPTIONS (col1 1, col2 2, col3 'test') SELECT * FROM test_table
;
INSERT OVERWRITE LOCAL DIRECTORY '/tmp/destination' STORED AS orc SELECT * FROM test_table
;
LOAD DATA LOCAL INPATH '/user/hive/warehouse/students' OVERWRITE INTO TABLE test_load PARTITION (c2 = 2, c3 = 3)
;
DELETE FROM students WHERE age < 10
;
DELETE FROM students AS s WHERE EXISTS (SELECT 1 FROM gone g WHERE g.id = s.id)
;
UPDATE students SET name = 'x', age = age + 1 WHERE id IN (SELECT id FROM renamed)
;
UPDATE t AS trigger SET trigger.late = DEFAULT WHERE every > 1
;
MERGE INTO target AS t USING source AS s ON t.id = s.id
WHEN MATCHED AND s.deleted THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.gone = true
;
MERGE WITH SCHEMA EVOLUTION INTO target USING (SELECT id, max(v) AS v FROM s GROUP BY id) AS u
ON target.id = u.id WHEN MATCHED THEN UPDATE SET v = u.v WHEN NOT MATCHED BY TARGET THEN INSERT (id, v) VALUES (u.id, u.v)
;
MERGE INTO stream USING window ON stream.id = window.id WHEN MATCHED THEN UPDATE SET trigger = window.trigger
