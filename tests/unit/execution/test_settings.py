"""Where settings come from, and who wins."""

from __future__ import annotations

import pytest

from warehouse.errors import WarehouseError
from warehouse.execution import machine, settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in settings.ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def test_defaults(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 16 * machine.GIB)
    monkeypatch.setattr(machine, "cores", lambda: 6)
    told = settings.load(tmp_path, {})
    assert (told.memory, told.cores) == ("7372m", 6)
    assert told.spark["spark.sql.shuffle.partitions"] == "6"
    assert told.spark["spark.sql.session.timeZone"] == "UTC"
    assert told.spark["spark.ui.enabled"] == "false"


def test_later_wins(tmp_path, monkeypatch):
    (tmp_path / "warehouse.toml").write_text(
        'memory = "2g"\ncores = 3\n[spark]\n"spark.a" = 1\nsql.shuffle.partitions = 9\nsql.ansi.enabled = false\n'
    )
    told = settings.load(tmp_path, {"spark.a": "2"})
    assert (told.memory, told.cores) == ("2g", 3)
    assert told.spark["spark.a"] == "2"
    assert told.spark["spark.sql.shuffle.partitions"] == "9"
    assert told.spark["spark.sql.ansi.enabled"] == "false"
    monkeypatch.setenv("WAREHOUSE_MEMORY", "3g")
    assert settings.load(tmp_path, {}).memory == "3g"
    assert settings.load(tmp_path, {"memory": "4g"}).memory == "4g"


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("memory = ", "WAREHOUSE_SETTINGS_UNREADABLE"),
        ('memory = "lots"', "WAREHOUSE_SETTING_INVALID"),
        ("cores = 0", "WAREHOUSE_SETTING_INVALID"),
        ('memroy = "2g"', "WAREHOUSE_SETTING_UNKNOWN"),
        ('spark.master = "yarn"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.master = "local[4]"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.master = "local-cluster[2,0,1024]"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.master = "local-cluster[2,1,100]"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.master = "local-cluster[2,1]"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.jars = "/none.jar"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.jars.packages = "org.apache.spark:spark-avro_2.13"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.jars.packages = "a:b:../c"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.jars.repositories = "https://here"', "WAREHOUSE_SETTING_INVALID"),
        ('spark.driver.extraClassPath = "/here"', "WAREHOUSE_SETTING_INVALID"),
    ],
)
def test_mistakes(tmp_path, text, condition):
    (tmp_path / "warehouse.toml").write_text(text)
    with pytest.raises(WarehouseError) as caught:
        settings.load(tmp_path, {})
    assert caught.value.condition == condition


def test_processes_of_their_own(tmp_path):
    alone = settings.load(tmp_path, {"cores": "3"})
    assert alone.executors is None and alone.spark["spark.master"] == "local[3]"
    assert "spark.speculation" not in alone.spark
    (tmp_path / "warehouse.toml").write_text('[spark]\n"spark.master" = "local-cluster[2, 3, 1024]"\n')
    told = settings.load(tmp_path, {"cores": "1", "spark.executor.memory": "9g"})
    assert told.executors == settings.Executors(2, 3, 1024)
    assert told.cores == 6 and told.spark["spark.sql.shuffle.partitions"] == "6"
    assert told.spark["spark.executor.memory"] == "1024m" and told.spark["spark.executor.cores"] == "3"
    assert told.spark["spark.speculation.multiplier"] == "1.4"
    assert settings.load(tmp_path, {"spark.speculation": "false"}).spark["spark.speculation"] == "false"


def test_jars_of_the_users_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jar").touch()
    given = {"spark.jars": f"a.jar, file://{tmp_path}/a.jar", "spark.jars.packages": "org.b:c_2.13:1.0, d:e:2"}
    told = settings.load(tmp_path, given)
    assert told.jars == (tmp_path / "a.jar", tmp_path / "a.jar")
    assert list(map(str, told.packages)) == ["org.b:c_2.13:1.0", "d:e:2"]
    assert not any("jars" in name for name in told.spark), "Spark would copy them for each executor once more"


@pytest.mark.parametrize(("gigabytes", "heap"), [(1, "1024m"), (8, "3686m"), (24, "11059m"), (512, "28672m")])
def test_heap_follows_the_machine(gigabytes, heap):
    assert machine.heap(gigabytes * machine.GIB) == heap


def test_a_container_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    alone = machine.memory()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert machine.memory() == alone
    (tmp_path / "memory.max").write_text(str(machine.GIB))
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert machine.memory() == machine.GIB
    assert machine.cores() == 1


@pytest.mark.parametrize(("heap", "megabytes"), [("1g", 10), ("4000m", 15), ("8g", 32)])
def test_what_is_sent_whole_to_a_join_follows_the_heap(tmp_path, heap, megabytes):
    told = settings.load(tmp_path, {"memory": heap}).spark["spark.sql.autoBroadcastJoinThreshold"]
    assert int(told) >> 20 == megabytes
    given = settings.load(tmp_path, {"spark.sql.autoBroadcastJoinThreshold": "-1"})
    assert given.spark["spark.sql.autoBroadcastJoinThreshold"] == "-1"
