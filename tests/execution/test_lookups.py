"""Names that are no classes are looked for once, and what a session adds later is found all the same."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.statements import rows_of
from warehouse.engine import Engine

SOURCE = """
package later;
public class Doubled extends org.apache.hadoop.hive.ql.exec.UDF {
  public Integer evaluate(Integer n) { return n == null ? null : 2 * n; }
}
"""


def test_what_is_missing_is_remembered(engine: Engine) -> None:
    loader = engine.spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    assert loader.getClass().getName() == "warehouse.execution.Lookups"
    field = loader.getClass().getDeclaredField("missing")
    field.setAccessible(True)
    missing = field.get(loader)
    assert not missing.containsKey("no.such.place")
    assert str(engine.spark._jvm.no.such.place).startswith("<py4j.java_gateway.JavaPackage")
    assert missing.containsKey("no.such.place")
    assert str(engine.spark._jvm.no.such.place).startswith("<py4j.java_gateway.JavaPackage")
    assert engine.spark._jvm.java.lang.Integer.MAX_VALUE == 2**31 - 1


def test_a_class_of_a_jar_that_is_added_after_it_was_missed(engine: Engine, schema: str, tmp_path: Path) -> None:
    view = engine.spark._jvm
    assert "JavaPackage" in str(view.later.Doubled)
    compiler = view.org.codehaus.janino.SimpleCompiler()
    compiler.cook(SOURCE)
    with zipfile.ZipFile(tmp_path / "later.jar", "w") as jar:
        jar.writestr("later/Doubled.class", bytes(compiler.getBytecodes().get("later.Doubled")))
    rows_of(engine, f"CREATE TEMPORARY FUNCTION added_later AS 'later.Doubled' USING JAR '{tmp_path / 'later.jar'}'")
    assert rows_of(engine, "SELECT added_later(INT(id)) AS d FROM range(3)") == [{"d": 0}, {"d": 2}, {"d": 4}]
