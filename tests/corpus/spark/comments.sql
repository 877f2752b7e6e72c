-- a leading comment; with a semicolon
SELECT 1
;
/* block; comment */ SELECT /* in; side */ 1 /* behind; */ -- and; more
;
SELECT 1 -- TRIGGER AT WATERMARK
FROM t /* WINDOW FIXED (a, SIZE INTERVAL 1 DAY) */ WHERE a = 1
;
/* nested /* comment; */ still; */ SELECT 2
;
SELECT /* + no hint */ 1, /*not; a hint*/ 2
;
SELECT 'not -- a comment', "nor /* this */", `nor -- this` FROM t
;
SELECT 1 -- a backslash goes on \
; this is still the comment
, 2
;
SELECT a--b
FROM t
;
SELECT
	a	,
	b


FROM	t
;
select   *   from   T   where   A=1
;
SeLeCt 1 aS OnE
;
--
SELECT 1
;
-- one
-- two

/* three */
SELECT /**/ 1 /***/
;
SELECT 1 /* é 日本 ; */, '🙂;' -- 🙂
;
SELECT /*+ BROADCAST(a) */ -- why; not
* FROM a
