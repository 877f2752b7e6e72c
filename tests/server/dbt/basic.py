"""dbt-tests-adapter's basic suite against an endpoint, subclassed as dbt-spark does; run in dbt's environment.

``tests/server/test_dbt.py`` runs it, ``WAREHOUSE_PORT`` names the endpoint. All of dbt-spark's own list runs, none of
it skipped, and more. These do not:

- ``BaseIncrementalBadStrategy``: the strategy is refused, before anything reaches the endpoint, by dbt-spark itself,
  with a sentence of its own in place of the one that is looked for.
- ``BaseDocsGenerate``, ``BaseDocsGenReferences``: they compare the catalog with PostgreSQL's types, owners and database
  names; dbt-spark runs neither. That ``dbt docs generate`` lists what there is, ``test_dbt.py`` looks at itself.
- ``BaseGetCatalogForSingleRelation``: asks for a method that dbt-spark does not have.
"""

from __future__ import annotations

import os

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental, BaseIncrementalNotSchemaChange
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection


@pytest.fixture(scope="class")
def dbt_profile_target() -> dict[str, object]:
    return {
        "type": "spark", "method": "thrift", "host": "127.0.0.1", "port": int(os.environ["WAREHOUSE_PORT"]),
        "user": "dbt", "poll_interval": 0,
    }  # fmt: skip


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral):
    pass


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestIncremental(BaseIncremental):
    pass


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestSnapshotCheckCols(BaseSnapshotCheckCols):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+file_format": "delta"}, "snapshots": {"+file_format": "delta"}}


class TestSnapshotTimestamp(BaseSnapshotTimestamp):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"+file_format": "delta"}, "snapshots": {"+file_format": "delta"}}


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestTableMaterialization(BaseTableMaterialization):
    pass


class TestValidateConnection(BaseValidateConnection):
    pass
