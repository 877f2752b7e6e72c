"""What EXPLAIN ANALYZE prints, from values made up here."""

from __future__ import annotations

from warehouse.adaptive.observed import HeavyHitter, Join, Operator, Ran, Read, Shuffle, Stage
from warehouse.adaptive.report import changes, shuffle_lines, stage_lines, tree_lines

LEAF = Operator("Scan", "t [a]", 10, (("files", "1"),))


def ran(planned: Join | None = None, join: Join | None = None, **more) -> Ran:
    joins = (join,) if join else ()
    return Ran(LEAF, (planned,) if planned else (), joins, more.get("shuffles", ()), more.get("reads", ()), 1024)


def test_a_tree_is_drawn() -> None:
    tree = Operator("Join", "", None, (), (Operator("Sort", "", None, (), (LEAF,)), LEAF))
    assert list(tree_lines(tree)) == [
        "Join",
        "├─ Sort",
        "│  └─ Scan t [a]  (10 rows, files 1)",
        "└─ Scan t [a]  (10 rows, files 1)",
    ]


def test_nothing_changed() -> None:
    join = Join("j", "inner join on a = b", "SortMergeJoin")
    assert list(changes(ran(join, join))) == ["nothing"]


def test_a_join_that_is_gone() -> None:
    assert list(changes(ran(Join("j", "inner join on a = b", "SortMergeJoin")))) == [
        "inner join on a = b: SortMergeJoin is gone: the rows that had come made it needless"
    ]


def test_two_joins_on_the_same_keys_are_told_apart() -> None:
    one, other = (Join(key, "inner join on a = b", "SortMergeJoin") for key in "12")
    became = Join("2", "inner join on a = b", "ShuffledHashJoin", (10, 20), build=1)
    run = Ran(LEAF, (one, other), (one, became), (), (), 1024)
    assert list(changes(run)) == [
        "inner join on a = b: SortMergeJoin became ShuffledHashJoin: the right side came to 20 bytes"
    ]


def test_reads_are_told_with_their_sizes() -> None:
    shuffle = Shuffle(1, "k", 100, 5000, (1, 2, 900))
    reads = (Read(1, 3, 1, False, None, 1), Read(1, 3, 5, False, (1, 3), 0), Read(1, 3, 3, False, None, 0))
    assert list(changes(ran(reads=reads, shuffles=(shuffle,)))) == [
        "shuffle 1: 3 partitions coalesced to 1 (partitions of 1 byte to 900 bytes)",
        "shuffle 1: 1 of 3 partitions skewed and split into 3 parts, the others read by 2 tasks"
        " (partitions of 1 byte to 900 bytes)",
    ]


def test_heavy_hitters_have_their_share() -> None:
    shuffle = Shuffle(2, "k", 200, 5000, (1000, 2, 3), (HeavyHitter("k = 7", 100),))
    assert list(shuffle_lines(shuffle)) == [
        "shuffle 2 by k: 200 rows, 1005 bytes in 3 partitions: least 2 bytes, median 3 bytes, largest 1000 bytes",
        "  heavy hitter k = 7: 100 rows, 50 % of the shuffle",
    ]


def test_stages_are_a_table() -> None:
    stages = [
        Stage(3, 1000, 5, 0, 0, 10, 2048, 0, 4096, (10, 30, 1500)),
        Stage(4, 0, 0, 10, 2048, 0, 0, 0, 0, ()),
    ]
    assert list(stage_lines(stages)) == [
        "stage  tasks  longest  median  rows read    from shuffles     to a shuffle  spilled",
        "    1      3    1.5 s   30 ms      1,000                -  10 rows, 2.0 KB   4.0 KB",
        "    2      0     0 ms    0 ms          -  10 rows, 2.0 KB                -        -",
    ]
