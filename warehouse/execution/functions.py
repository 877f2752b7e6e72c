"""Functions that were added to Spark's own, in sessions that had begun before: Spark copies its own as one begins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession


def serve(spark: SparkSession, names: Iterable[str]) -> None:
    """Let a session call functions by these names, in lower case; one that Spark does not have is passed over."""
    jvm: Any = spark._jvm
    catalyst, some = jvm.org.apache.spark.sql.catalyst, jvm.scala.Option.apply
    own = getattr(getattr(catalyst.analysis, "FunctionRegistry$"), "MODULE$").builtin()
    here = spark._jsparkSession.sessionState().functionRegistry()
    for name in names:
        plain = catalyst.FunctionIdentifier(name)
        qualified = catalyst.FunctionIdentifier(name, some("builtin"), some("system"))
        builder = own.lookupFunctionBuilder(plain)
        if builder.isDefined() and not here.functionExists(qualified):
            here.registerFunction(qualified, own.lookupFunction(plain).get(), builder.get())
