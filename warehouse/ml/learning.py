"""What the engine calls: library, stored models, GENERATE. Nothing of MLlib is loaded before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.catalog.entries import ModelEntry
from warehouse.catalog.store import Catalog
from warehouse.catalog.udfs import Udfs
from warehouse.execution.results import Listing, TrainingProgress
from warehouse.language.statements import ShowObjects
from warehouse.planning import plans
from warehouse.planning.algorithms import Algorithm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from warehouse.ml.generating import Generated
    from warehouse.ml.library import SparkLibrary
    from warehouse.ml.models import StoredModels


class Learning:
    """Machine learning in one session of a warehouse."""

    def __init__(self, spark: SparkSession, catalog: Catalog, home: Path, udfs: Udfs):
        self.spark, self.catalog, self.home, self.udfs = spark, catalog, home, udfs

    def mend(self) -> None:
        """Remove what a process that was killed left of models."""
        if (self.home / "models").is_dir():
            self.models.mend()

    @cached_property
    def models(self) -> StoredModels:
        """Return the models in the folder."""
        from warehouse.ml.models import StoredModels

        return StoredModels(self.spark, self.catalog, self.home)

    def library(self, parameters: Mapping[str, Any] | None = None) -> SparkLibrary:
        """Return what finds algorithms, for a statement with these values of its parameter markers."""
        from warehouse.ml.library import SparkLibrary

        return SparkLibrary(self.spark, self.udfs, dict(parameters or {}))

    def generate(
        self,
        plan: plans.Train,
        parameters: Mapping[str, Any],
        report: Callable[[TrainingProgress], None] | None,
    ) -> Generated:
        """Run a GENERATE statement."""
        from warehouse.ml.generating import Generating
        from warehouse.ml.watch import Watch

        with Watch(self.spark.sparkContext, report) as watch:
            return Generating(self.spark, self.models, self.library(parameters), watch).run(plan)

    def shown(self, statement: ShowObjects, schema: str) -> Listing:
        """Return SHOW MODELS or SHOW GENERATORS."""
        from warehouse.ml import listing

        if statement.kind == "GENERATOR":
            return listing.generators(self.library(), statement.pattern)
        wanted = (statement.schema.last if statement.schema else schema).lower()
        return listing.models([m for m in self.catalog.models.all() if m.schema.lower() == wanted], statement.pattern)

    def described(self, entry: object, extended: bool) -> Listing:
        """Return DESCRIBE MODEL or DESCRIBE GENERATOR."""
        from warehouse.ml import listing

        if isinstance(entry, ModelEntry):
            return listing.model(entry, extended)
        assert isinstance(entry, Algorithm)
        return listing.generator(entry)
