BEGIN
  SELECT 1;
  SELECT 2;
END
;
BEGIN
  DECLARE x INT DEFAULT 1;
  IF x > 0 THEN
    SELECT 'positive';
  ELSEIF x = 0 THEN
    SELECT 'zero';
  ELSE
    SELECT 'negative';
  END IF;
END
;
BEGIN NOT ATOMIC
  SET x = 1;
END
;
BEGIN
  DECLARE i INT = 0;
  outer_loop: LOOP
    SET i = i + 1;
    IF i > 10 THEN LEAVE outer_loop; END IF;
    ITERATE outer_loop;
  END LOOP outer_loop;
END
;
BEGIN
  WHILE (SELECT count(*) FROM t) < 10 DO
    INSERT INTO t VALUES (1);
  END WHILE;
  REPEAT
    SET x = x + 1;
  UNTIL x > 5
  END REPEAT;
  FOR row AS SELECT * FROM t DO
    INSERT INTO u VALUES (row.a);
  END FOR;
END
;
BEGIN
  CASE
    WHEN (SELECT 1) = 1 THEN SELECT 'a';
    WHEN b THEN SELECT CASE WHEN c THEN 1 ELSE 2 END;
    ELSE BEGIN SELECT 3; END;
  END CASE;
  CASE x WHEN 1 THEN SELECT 1; END CASE;
END
;
BEGIN
  lbl: BEGIN
    DECLARE y STRING;
    BEGIN
      SELECT CASE y WHEN 'a' THEN 1 END AS `end`;
    END;
  END lbl;
END
;
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    SELECT 'failed';
  END;
  DECLARE CONTINUE HANDLER FOR DIVIDE_BY_ZERO SET flag = -1;
  DECLARE my_condition CONDITION FOR SQLSTATE '45000';
  SELECT 1 / 0;
END
;
BEGIN
  DECLARE EXIT HANDLER FOR NOT FOUND, SQLSTATE '22012' BEGIN SELECT 1; END;
  SELECT begin, end FROM t;
  SELECT t.begin, t.end FROM t WHERE begin < end;
  SELECT a AS begin, b AS end FROM t;
  SELECT if(a, 1, 2), repeat('a', 2) FROM loop;
END
;
BEGIN END
;
begin
  -- a comment; END
  select 'END;';
  /* END; */
  if exists (select 1 from t) then select 1; end if;
end
;
BEGIN
  DECLARE a, b INT DEFAULT 0;
  SET (a, b) = (SELECT 1, 2);
  EXECUTE IMMEDIATE 'SELECT 1; SELECT 2';
  SELECT CASE WHEN a > b THEN a END;
END
;
BEGIN
  DECLARE c CURSOR FOR SELECT a FROM t;
  OPEN c;
  FETCH c INTO x;
  CLOSE c;
END
