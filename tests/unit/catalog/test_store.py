"""The catalog's files: what is put comes back, names are data, and a broken file is named."""

import json
from dataclasses import replace

import pytest

from warehouse.catalog.entries import Column, StreamEntry, StreamingTableEntry, ViewEntry, new_id, qualified
from warehouse.catalog.store import Catalog, encode_name, file_stem
from warehouse.errors import WarehouseError


def stream(name="plays", schema="default", **changes):
    values = {
        "columns": (Column("player", "string"), Column("at", "timestamp", "when")),
        "format": "json",
        "options": (("path", "/data/it's 100%"),),
        "watermark_column": "at",
        "watermark_delay": 10_000_000,
        "idle_timeout": None,
        "fail_on_error": False,
        "comment": None,
        "properties": (),
        "text": "CREATE STREAM plays …",
        "created_at": "2024-01-01T00:00:00Z",
    }
    return StreamEntry(schema, name, **(values | changes))


def table(name="t", sources=("default.plays",)):
    return StreamingTableEntry(
        "default", name, new_id(name), "CREATE …", None, (), (Column("n", "bigint"),), sources,
        False, "ACCUMULATING", True, (("window", "FIXED"),), "2024-01-01T00:00:00Z",
    )  # fmt: skip


def test_what_is_put_is_there_after_opening_again(tmp_path):
    catalog = Catalog.open(tmp_path)
    kept = stream(), table(), ViewEntry("default", "v", "CREATE VIEW v AS …")
    catalog.streams.put(kept[0])
    catalog.streaming_tables.put(kept[1])
    catalog.views.put(kept[2])
    for c in (catalog, Catalog.open(tmp_path)):
        found = c.streams.get("default", "plays"), c.streaming_tables.get("default", "t"), c.views.get("default", "v")
        assert found == kept
        assert (c.streams.all(), c.streaming_tables.all(), c.views.all()) == tuple((k,) for k in kept)


def test_an_unknown_folder_is_an_empty_catalog_and_is_not_created(tmp_path):
    assert Catalog.open(tmp_path / "none").streams.all() == ()
    assert not (tmp_path / "none").exists()


def test_names_are_compared_without_case_and_kept_as_written(tmp_path):
    catalog = Catalog.open(tmp_path)
    catalog.streams.put(stream("Plays"))
    catalog.streams.put(stream("PLAYS", comment="second"))
    assert [s.name for s in Catalog.open(tmp_path).streams.all()] == ["PLAYS"]
    assert catalog.streams.get("DEFAULT", "plays").comment == "second"
    assert catalog.streams.drop("default", "pLays") and not catalog.streams.drop("default", "plays")
    assert Catalog.open(tmp_path).streams.all() == ()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "a.b", "ü " * 60, "x" * 250, "", ".", "a\nb", "Ä", "%41"])
def test_names_never_become_paths(tmp_path, name):
    Catalog.open(tmp_path).streams.put(stream(name))
    assert Catalog.open(tmp_path).streams.get("default", name).name == name
    assert [p.parent for p in tmp_path.rglob("*.json")] == [tmp_path / "catalog" / "streams"]


def test_different_names_have_different_files():
    names = ["a.b", "a%2Eb", "a%b", "a b", "a_b", "x" * 300, "x" * 301]
    assert len({file_stem("s", n) for n in names}) == len(names)
    assert file_stem("a.b", "c") != file_stem("a", "b.c")
    assert encode_name("A") == encode_name("a")


def test_qualified_names_are_sql():
    assert qualified("default", "a`b") == "default.`a``b`"
    assert stream("a.b").qualified == "default.`a.b`"


def test_readers_of_a_stream(tmp_path):
    catalog = Catalog.open(tmp_path)
    catalog.streaming_tables.put(table("t"))
    catalog.streaming_tables.put(table("u", ("default.other", "Default.Plays")))
    catalog.streaming_tables.put(table("w", ("default.other",)))
    assert [t.name for t in catalog.readers_of("default.plays")] == ["t", "u"]


def test_kind_of_a_name(tmp_path):
    catalog = Catalog.open(tmp_path)
    catalog.streams.put(stream())
    catalog.streaming_tables.put(table())
    assert [catalog.kind_of("default", n) for n in ("plays", "T", "x")] == ["stream", "streaming table", None]


def damaged(**changes):
    """Return a function that changes fields of the entry in a file's text."""

    def change(text):
        data = json.loads(text)
        data["entry"] |= changes
        return json.dumps(data)

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: '{"format": "one"}',
        lambda text: '{"format": 1}',
        lambda text: '{"format": 1, "entry": []}',
        damaged(name="other"),
        damaged(stateless="no"),
        damaged(unknown=1),
        damaged(columns=[1]),
        damaged(sources=[None]),
        damaged(revision="often"),
    ],
)
def test_a_broken_file_is_named(tmp_path, damage):
    Catalog.open(tmp_path).streaming_tables.put(table("plays"))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damage(path.read_text()))
    with pytest.raises(WarehouseError) as error:
        Catalog.open(tmp_path)
    assert error.value.condition == "WAREHOUSE_CATALOG_FILE_BROKEN"
    assert "default.plays.json" in str(error.value)


def test_a_field_of_older_folders_is_left_out(tmp_path):
    Catalog.open(tmp_path).streaming_tables.put(table("plays"))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(damaged(every=None)(path.read_text()))
    assert Catalog.open(tmp_path).streaming_tables.all()


def test_a_file_that_is_not_text_is_named(tmp_path):
    Catalog.open(tmp_path).streams.put(stream())
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WarehouseError, match=r"plays\.json"):
        Catalog.open(tmp_path)


def test_a_table_of_format_1_was_never_changed_in_place(tmp_path):
    kept = table()
    Catalog.open(tmp_path).streaming_tables.put(kept)
    (path,) = tmp_path.rglob("*.json")
    written = json.loads(path.read_text(encoding="utf-8"))
    for name in ("revision", "closed", "key_order", "former"):
        del written["entry"][name]
    path.write_text(json.dumps(written | {"format": 1}))
    assert Catalog.open(tmp_path).streaming_tables.all() == (kept,)


def test_what_a_change_leaves_behind_is_kept(tmp_path):
    changed = replace(table(), revision=2, closed=-5, key_order=("1", "0"), former=(Column("gone", "int"),))
    Catalog.open(tmp_path).streaming_tables.put(changed)
    assert Catalog.open(tmp_path).streaming_tables.all() == (changed,)


def test_a_newer_format_is_refused(tmp_path):
    Catalog.open(tmp_path).streams.put(stream())
    (path,) = tmp_path.rglob("*.json")
    path.write_text('{"format": 99, "what": "ever"}')
    with pytest.raises(WarehouseError) as error:
        Catalog.open(tmp_path)
    assert error.value.condition == "WAREHOUSE_CATALOG_FILE_NEWER"


def test_a_write_that_fails_leaves_the_old_entry_and_no_draft(tmp_path, monkeypatch):
    catalog = Catalog.open(tmp_path)
    catalog.streams.put(stream())

    def full(_):
        raise OSError("No space left on device")

    monkeypatch.setattr("warehouse.catalog.store.os.fsync", full)
    with pytest.raises(OSError):
        catalog.streams.put(stream(comment="new"))
    assert catalog.streams.get("default", "plays").comment is None
    assert Catalog.open(tmp_path).streams.get("default", "plays").comment is None
    assert len(list(tmp_path.rglob("*.*"))) == 1
