"""Files are written by the JVM itself, not by processes that it starts."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.statements import rows_of
from warehouse.engine import Engine

COMMANDS = ("chmod", "readlink", "stat")
"""``ls`` is left: Hive asks for the owner of a folder once for each table that is made."""


@pytest.mark.soak
def test_no_process_is_started(engine: Engine, schema: str, tmp_path: Path) -> None:
    view = engine.spark._jvm
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n')
    recording = view.jdk.jfr.Recording()
    recording.enable("jdk.ProcessStart")
    recording.start()
    list(
        engine.run(
            f"CREATE TABLE numbers AS SELECT id FROM range(10); INSERT INTO numbers VALUES (11);"
            f"CREATE STREAM ks (k INT) USING json OPTIONS (path '{tmp_path / 'in'}');"
            f"CREATE STREAMING TABLE counts AS SELECT k, count(*) AS n FROM STREAM ks GROUP BY k WINDOW GLOBAL"
            f" TRIGGER EVERY 1 ROW ACCUMULATING; REFRESH STREAMING TABLE counts"
        )
    )
    recording.stop()
    seen = view.java.nio.file.Path.of(str(tmp_path / "seen.jfr"), engine.spark._sc._gateway.new_array(view.String, 0))
    recording.dump(seen)
    recording.close()
    events = view.jdk.jfr.consumer.RecordingFile.readAllEvents(seen)
    started = [events.get(n).getString("command") for n in range(events.size())]
    assert [command for command in started if command.split()[0] in COMMANDS] == []
    assert rows_of(engine, "SELECT n FROM counts") == [{"n": 1}]


def test_rights_are_those_that_hadoop_would_give(engine: Engine, tmp_path: Path) -> None:
    view = engine.spark._jvm
    files = view.org.apache.hadoop.fs.FileSystem.get(
        view.java.net.URI.create("file:///"), engine.spark._jsc.hadoopConfiguration()
    )
    assert files.getClass().getName() == "warehouse.execution.LocalFiles"
    place = view.org.apache.hadoop.fs.Path(str(tmp_path / "folder"))
    rights = view.org.apache.hadoop.fs.permission.FsPermission
    files.mkdirs(place)
    files.create(view.org.apache.hadoop.fs.Path(place, "file")).close()
    assert stat.filemode((tmp_path / "folder").stat().st_mode) == "drwxr-xr-x"
    assert stat.filemode((tmp_path / "folder" / "file").stat().st_mode) == "-rw-r--r--"
    assert (tmp_path / "folder" / ".file.crc").exists()
    files.setPermission(place, rights("700"))
    assert stat.filemode((tmp_path / "folder").stat().st_mode) == "drwx------"
