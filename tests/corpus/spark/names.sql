SELECT tumble, hop, session, descriptor FROM tumble JOIN hop ON tumble.session = hop.descriptor
;
SELECT session_window.start, count(*) FROM t GROUP BY session_window(ts, '5 minutes') ORDER BY window(ts, '1 day').end
;
SELECT * FROM t TRIGGER
;
SELECT * FROM t DISCARDING
;
SELECT * FROM t RETRACTING WHERE RETRACTING.a = 1
;
SELECT * FROM t ACCUMULATING JOIN u ON ACCUMULATING.a = u.a
;
SELECT * FROM t ALLOWED ORDER BY ALLOWED.a
;
SELECT * FROM t trigger (every, late)
;
SELECT * FROM t TRIGGER (NEVER)
;
SELECT * FROM t window
;
SELECT * FROM t AS window (a, b)
;
SELECT * FROM stream
;
SELECT * FROM stream WHERE a = 1
;
SELECT * FROM stream, window, trigger
;
SELECT * FROM stream JOIN window ON stream.id = window.id
;
SELECT * FROM stream LEFT JOIN late ON true
;
SELECT * FROM stream ORDER BY 1
;
SELECT * FROM stream GROUP BY stream.a
;
SELECT * FROM stream LIMIT 3
;
SELECT * FROM stream UNION ALL SELECT * FROM stream
;
SELECT * FROM stream LATERAL VIEW explode(late) every AS trigger
;
SELECT * FROM stream TABLESAMPLE (5 ROWS)
;
SELECT * FROM stream PIVOT (sum(a) FOR b IN (1))
;
SELECT * FROM stream VERSION AS OF 1
;
SELECT * FROM stream WINDOW w AS (PARTITION BY a)
;
SELECT * FROM stream WATERMARK c DELAY OF INTERVAL 1 SECOND
;
SELECT * FROM stream(10, 2)
;
SELECT * FROM stream('a')
;
SELECT * FROM `stream` s
;
SELECT * FROM stream.plays s
;
SELECT * FROM plays.stream s
;
SELECT * FROM (SELECT 1) stream
;
SELECT stream FROM plays
;
SELECT stream, trigger, window, late, every, early, after, never, once, discarding, accumulating, retracting, allowed, lateness, generate, fixed, sliding, sessions, global, size, gap, watermark, delay, percentile, repeat, until FROM t
;
SELECT a stream, b trigger, c window, d late, e every, f never, g repeat, h allowed, i discarding, j generate FROM t
;
SELECT a AS stream, b AS trigger, c AS window, d AS late, e AS `every`, f AS watermark FROM t
;
SELECT t.stream, t.trigger, t.window.start, stream.window, window.trigger.every FROM t, stream, window
;
SELECT trigger(stream), window(every, 1), late(late), stream(1), repeat('a', 3), generate() FROM t
;
SELECT sum(trigger) trigger FROM t GROUP BY trigger
;
SELECT a FROM t GROUP BY trigger, window, stream HAVING trigger > 1 AND window = 2
;
SELECT a FROM t WHERE trigger = every AND late OR never AND NOT discarding
;
SELECT a FROM t ORDER BY trigger DESC, window, late NULLS LAST
;
SELECT max(every) OVER (PARTITION BY trigger ORDER BY late) FROM t
;
SELECT max(a) OVER trigger FROM t WINDOW trigger AS (ORDER BY a)
;
SELECT max(a) OVER sessions FROM t WINDOW sliding AS (ORDER BY a), sessions AS (sliding)
;
WITH stream AS (SELECT 1 AS trigger), window AS (SELECT 2 AS every) SELECT * FROM stream, window
;
WITH trigger AS (SELECT 1) SELECT * FROM trigger trigger
;
SELECT trigger.* FROM trigger
;
SELECT * EXCEPT (trigger, window) FROM late
;
SELECT panes, late_rows, bad_rows FROM panes
;
SELECT * FROM panes, late_rows l, stream_state AS s
;
SELECT panes('t') FROM late_rows
;
SELECT * FROM db.panes('t')
;
SELECT stream -> stream, x FROM t
;
SELECT transform(a, window -> window + 1) FROM t
;
SELECT :trigger, :window FROM IDENTIFIER(:stream)
;
SELECT CASE trigger WHEN every THEN late ELSE never END window FROM t
;
SELECT trigger::int window, late IS NULL every, early IS NOT NULL FROM t
;
INSERT INTO stream SELECT * FROM window
;
INSERT INTO stream (trigger, window) VALUES (1, 2)
;
CREATE TABLE stream (trigger INT, window STRING, late BOOLEAN, every INT, watermark TIMESTAMP)
;
CREATE TABLE trigger AS SELECT * FROM window
;
CREATE VIEW window AS SELECT trigger FROM stream
;
CREATE TABLE streaming (a INT)
;
CREATE OR REPLACE TEMPORARY VIEW generate AS SELECT 1
;
DROP TABLE stream
;
DROP VIEW IF EXISTS window
;
ALTER TABLE trigger RENAME TO window
;
TRUNCATE TABLE late
;
SELECT DISTINCT trigger FROM t
;
SELECT late.trigger, late.window FROM t AS late
;
SELECT * FROM t JOIN trigger ON t.a = trigger.a JOIN window USING (late)
;
SELECT (SELECT trigger FROM window) AS every
;
SELECT 1 WINDOW
;
SELECT 1 trigger
;
SELECT limit FROM t
;
SELECT a limit FROM t
;
SELECT case FROM t
;
SELECT end, begin, order, group, by, where FROM t
;
SELECT FROM t
;
SELECT 1 AS `a;b`, ';' AS c
;
SELECT `naïve`, `größe`, `列` FROM `表` WHERE `名` = '值；'
;
SELECT `a``b`, `日本語 テキスト` FROM `my-db`.`t 1`
