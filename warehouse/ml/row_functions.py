"""A fitted pipeline as a SQL function of one row.

MLlib predicts by projections over a frame: each stage adds a column that is an expression of others. Folded into
each other they are one expression over the columns that go in, and Spark lets a function of any name stand for such
an expression. So a model can be asked anywhere in SQL, in a view, or in each step of a streaming table, and what
runs is MLlib's own code, row by row in the JVM.

Two small classes are needed inside the JVM: one puts a call's arguments in the place of the columns, the other says of
MLlib's functions that they are deterministic, which they are: those that raise errors are marked as if they were not,
lest a filter be moved below them, and nothing here depends on that. Both are compiled when they are first needed, by
the compiler that Spark brings along for its own generated code (Janino).
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

_CLASS, _STEADY = "WarehouseRowFunction", "WarehouseSteady"
_SOURCES = {
    _CLASS: f"""
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.optimizer.CollapseProject$;
import scala.collection.immutable.Nil$;

public final class {_CLASS} extends scala.runtime.AbstractFunction1 {{
  private final Expression template;
  private final java.util.List inputs;

  public {_CLASS}(Expression template, java.util.List inputs) {{
    this.template = template;
    this.inputs = inputs;
  }}

  public Object apply(Object arguments) {{
    scala.collection.Seq given = (scala.collection.Seq) arguments;
    if (given.size() != inputs.size())
      throw new IllegalArgumentException("takes " + inputs.size() + " arguments, not " + given.size());
    java.util.ArrayList pairs = new java.util.ArrayList();
    for (int i = 0; i < inputs.size(); i++) {{
      Attribute input = (Attribute) inputs.get(i);
      pairs.add(new scala.Tuple2(input, new Alias((Expression) given.apply(i), input.name(), input.exprId(),
          Nil$.MODULE$, scala.Option.empty(), Nil$.MODULE$)));
    }}
    return CollapseProject$.MODULE$.replaceAlias(template,
        AttributeMap$.MODULE$.apply(scala.jdk.javaapi.CollectionConverters.asScala(pairs).toSeq()));
  }}
}}
""",
    _STEADY: f"""
import org.apache.spark.sql.catalyst.expressions.*;

public final class {_STEADY} extends scala.runtime.AbstractFunction1 {{
  public Object apply(Object node) {{
    Object made = ((Expression) node).mapChildren(this);
    if (!(made instanceof ScalaUDF)) return made;
    ScalaUDF udf = (ScalaUDF) made;
    return new ScalaUDF(udf.function(), udf.dataType(), udf.children(), udf.inputEncoders(), udf.outputEncoder(),
        udf.udfName(), udf.nullable(), true);
  }}
}}
""",
}


class RowFunctions:
    """Registers functions for all sessions of one JVM."""

    def __init__(self, spark: SparkSession):
        self.spark = spark
        self.jvm: Any = spark._jvm
        self._constructors: dict[str, Any] = {}

    def register(self, name: str, base: DataFrame, result: DataFrame) -> None:
        """Make the function ``name`` of the columns of ``base`` return the one column of ``result``.

        Args:
            name: in lower case.
            base: where ``result`` starts from.
            result: what came of ``base`` by projections alone, see ``expression``.
        """
        template, inputs = self._template(base, result)
        builder = self._new(_CLASS, template, inputs)
        jvm = self.jvm
        info = jvm.org.apache.spark.sql.catalyst.expressions.ExpressionInfo(_CLASS, name)
        some = jvm.scala.Option.apply
        here = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name, some("builtin"), some("system"))
        plain = jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name)
        module = getattr(getattr(jvm.org.apache.spark.sql.catalyst.analysis, "FunctionRegistry$"), "MODULE$")
        module.builtin().registerFunction(plain, info, builder)  # for sessions to come, and for views
        self.spark._jsparkSession.sessionState().functionRegistry().registerFunction(here, info, builder)

    def is_row_wise(self, base: DataFrame, result: DataFrame) -> bool:
        """Say whether ``result`` came of ``base`` by projections alone, and always would in the same way."""
        node, end = _plan(result), _plan(base)
        while node.nodeName() == "Project" and not node.fastEquals(end):
            node = node.child()
        return bool(node.fastEquals(end)) and bool(self._template(base, result)[0].deterministic())

    def _template(self, base: DataFrame, result: DataFrame) -> tuple[Any, Any]:
        """Return the expression of the result's column, and the columns of the base that it is made of."""
        collapse = getattr(getattr(self.jvm.org.apache.spark.sql.catalyst.optimizer, "CollapseProject$"), "MODULE$")
        node, end = _plan(result), _plan(base)
        listed = node.projectList()
        node = node.child()
        while not node.fastEquals(end):
            listed = collapse.buildCleanedProjectList(listed, node.projectList())
            node = node.child()
        inputs, output = self.jvm.java.util.ArrayList(), end.output()
        for i in range(output.size()):
            inputs.add(output.apply(i))
        return self._new(_STEADY).apply(listed.apply(0).child()), inputs

    def _new(self, name: str, *values: Any) -> Any:
        """Return an instance of one of the two classes."""
        if name not in self._constructors:
            compiler = self.jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(self.jvm.java.lang.Thread.currentThread().getContextClassLoader())
            compiler.cook(_SOURCES[name])
            self._constructors[name] = compiler.getClassLoader().loadClass(name).getConstructors()[0]
        gateway = self.spark.sparkContext._gateway
        assert gateway
        arguments = gateway.new_array(self.jvm.java.lang.Object, len(values))
        for number, value in enumerate(values):
            arguments[number] = value
        return self._constructors[name].newInstance(arguments)


def _plan(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()
