"""What stands at a stream's path: whether it is there, whether Spark would read all of it, and each file once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamEntry
from warehouse.errors import Span, fail
from warehouse.planning.streams.streams import FILE_FORMATS

_WILD = r"[\\\[\]{}*?]"


def check_path(spark: SparkSession, entry: StreamEntry, span: Span | None = None) -> None:
    """Refuse a stream whose path is gone, or not all of whose files Spark would read, at ``span``.

    Raises:
        WarehouseError: it is one.
    """
    path = entry.option("path")
    if path is not None and not path_exists(spark, path):
        advice = "It was there when the stream was created: bring it back, or CREATE OR REPLACE the stream."
        fail("WAREHOUSE_STREAM_PATH_NOT_FOUND", span, path=path, name=entry.qualified, advice=advice)
    _check_folders(spark, entry, span)


def check_file_names(entry: StreamEntry) -> None:
    """Refuse local files that Spark's streaming source would read more than once, and those that it cannot read.

    Where a file's path looks like a pattern, Spark 4.2 puts all files of the micro-batch into the scan once more
    (SPARK-58518). A scan of partition folders or with recursiveFileLookup looks each file up once. Hadoop takes what
    stands before a colon in a name for the scheme of a URI.
    """
    path = entry.option("path") or ""
    if entry.format not in FILE_FORMATS or not path.startswith("/") or _is_recursive(entry):
        return
    root = path if os.path.exists(path) else fixed_folder(path) or path
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if "=" not in name and not name.startswith((".", "_"))]
        for name in sorted(name for name in files if not name.startswith((".", "_"))):
            if ":" in name:
                fail("WAREHOUSE_STREAM_FILE_COLON", file=f"{folder}/{name}", name=entry.qualified)
            if re.search(_WILD, f"{folder}/{name}"):
                fail("WAREHOUSE_STREAM_FILE_NAME", file=f"{folder}/{name}", name=entry.qualified)


def _check_folders(spark: SparkSession, entry: StreamEntry, span: Span | None) -> None:
    """Refuse local files that are in no ``key=value`` folder where others are, at ``span``.

    Spark takes such folders for partitions, and then leaves out without a word what is in none of them; in a stream
    it is marked as read besides. With recursiveFileLookup it takes no folder for a partition.
    """
    path = entry.option("path") or ""
    if entry.parsed_format not in FILE_FORMATS or not path.startswith("/") or _is_recursive(entry):
        return
    whole, glob, jvm = os.path.exists(path), entry.option("pathGlobFilter"), spark._jvm
    base = entry.option("basePath") or (path if whole else fixed_folder(path)) or path
    fits = jvm.org.apache.hadoop.fs.GlobFilter(glob).accept if glob and jvm else None

    def first(folder: str, names: Iterable[str]) -> str | None:
        """Return the first file of a folder that Spark reads."""
        shown = (f"{folder}/{name}" for name in sorted(names) if not _is_hidden(name))
        return next((file for file in shown if fits is None or fits(jvm.org.apache.hadoop.fs.Path(file))), None)

    def first_below(root: str) -> str | None:
        found = (first(folder, files) for folder, inner, files in _shown_folders(root))
        return next(filter(None, found), None)

    within = outside = None
    for root in [path] if whole else _matching(spark, path):
        if "=" in os.path.relpath(root if os.path.isdir(root) else os.path.dirname(root), base):
            within = within or first_below(root)
            continue
        for folder, inner, files in _shown_folders(root):
            keyed = [f"{folder}/{name}" for name in inner if "=" in name]
            inner[:] = [name for name in inner if "=" not in name]  # of folders that are columns one file will do
            within = within or next(filter(None, map(first_below, keyed)), None)
            outside = outside or first(folder, files)
    if within and outside:
        named = {"file": outside, "name": entry.qualified, "folder": os.path.dirname(within)}
        fail("WAREHOUSE_STREAM_FILE_OUTSIDE", span, **named)


def _shown_folders(root: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what ``os.walk`` does from ``root`` on, but for folders that are hidden to Spark; of a file, that alone."""
    if not os.path.isdir(root):
        yield os.path.dirname(root), [], [os.path.basename(root)]
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if not _is_hidden(name))
        yield folder, inner, files


def _matching(spark: SparkSession, pattern: str) -> list[str]:
    """Return what there is at a pattern, by Hadoop's rules."""
    place, files = _in_file_system(spark, pattern)
    return [found.getPath().toUri().getPath() for found in files.globStatus(place) or ()]


def _in_file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return a path as Hadoop has it, and its file system."""
    jvm: Any = spark._jvm
    place = jvm.org.apache.hadoop.fs.Path(path)
    return place, place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _is_recursive(entry: StreamEntry) -> bool:
    return (entry.option("recursiveFileLookup") or "").lower() == "true"


def path_exists(spark: SparkSession, path: str) -> bool:
    """Say whether a path, or for a pattern the folder before its first wildcard, exists in its file system."""
    place, files = _in_file_system(spark, path)
    if files.exists(place) or _matching(spark, path):
        return True
    base = fixed_folder(path)
    return base is not None and bool(files.exists(_in_file_system(spark, base)[0]))


def scanned(path: str) -> tuple[str, str | None]:
    r"""Return a path as Spark is to scan it, and the folder from which ``key=value`` folders count as columns.

    A local path that exists is meant literally, whatever its characters. Spark's streaming source tells the
    base folder of a plain folder only: a pattern would lose its partition values, and a single file is refused
    outright. So both become patterns with the base given.

    Example:
        >>> scanned("/nowhere/*.json")
        ('/nowhere/*.json', '/nowhere')
    """
    local = path.startswith("/") and os.path.exists(path)
    if local and os.path.isdir(path):
        escaped = literal_path(path)
        return escaped, (path if escaped != path else None)
    if local:
        folder, _, name = path.rpartition("/")
        return f"{literal_path(folder)}/[{name[0]}]{literal_path(name[1:])}", folder or "/"
    base = fixed_folder(path)
    return path, base


def fixed_folder(path: str) -> str | None:
    """Return the folder before a pattern's first wildcard, or None when there is no wildcard."""
    before = re.split(r"(?<!\\)[*?\[{]", path, maxsplit=1)[0]
    if before == path:
        return None
    return re.sub(r"\\(.)", r"\1", before.rpartition("/")[0]) or "/"


def literal_path(path: str) -> str:
    r"""Return ``path`` with Hadoop's wildcards taken literally.

    Example:
        >>> literal_path("a[1]*")
        'a\\[1\\]\\*'
    """
    return re.sub(f"({_WILD})", r"\\\1", path)
