"""A project in, one page of HTML about it, out: no scripts, nothing fetched, everything in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape

from warehouse.project.described import About, Table
from warehouse.project.graph import Project
from warehouse.project.units import Unit

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733 }
h1, h2 { line-height: 1.2 } h2 { margin-top: 3rem; border-top: 1px solid #d8dee4; padding-top: 1.2rem }
table { border-collapse: collapse; margin: .8rem 0 } th, td { text-align: left; padding: .25rem .9rem .25rem 0;
  border-bottom: 1px solid #e4e8ec; vertical-align: top }
code, pre { font: 13px/1.5 ui-monospace, monospace } pre { background: #f5f7f9; padding: .8rem; overflow-x: auto }
.quiet { color: #66727f } .tag { background: #e8eef5; border-radius: 3px; padding: 0 .4rem }
svg { max-width: 100%; height: auto } svg path { fill: none; stroke: #9fb0c0 }
svg rect { fill: #f5f7f9; stroke: #9fb0c0 }
svg text { font: 13px system-ui, sans-serif; fill: #1c2733 }
@media (prefers-color-scheme: dark) { body { background: #14191f; color: #d7dee6 } pre, svg rect { background: #1d242c;
  fill: #1d242c } svg text { fill: #d7dee6 } a { color: #7fb4ff } .tag { background: #2a3644 } }
"""

_WIDE, _HIGH, _BOX = 230, 44, 190
"""Distances between the boxes of the graph, and the width of one, in pixels."""


def page(name: str, project: Project, about: Mapping[int, About]) -> str:
    """Return the page.

    Args:
        name: of the project.
        project: with its tests.
        about: what is known of each file, by its position in ``project.units``.
    """
    files = [at for at, unit in enumerate(project.units) if not unit.severity]
    tests = [at for at, unit in enumerate(project.units) if unit.severity]
    sections = "".join(_section(project, at, about[at]) for at in files)
    listed = "".join(_line(project.units[at], about[at]) for at in files)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(name)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(name)}</h1>
<p class="quiet">{len(files)} files in the order they run, {len(tests)} tests.</p>
{graph(project, files)}
<table><tr><th>file</th><th>creates</th><th></th></tr>{listed}</table>
{sections}{_tests(project, tests)}</body></html>
"""


def graph(project: Project, files: list[int]) -> str:
    """Return a picture (SVG) of what needs what: whatever a file needs stands to its left."""
    column: dict[int, int] = {}
    places: dict[int, tuple[int, int]] = {}
    heights: Counter[int] = Counter()
    for at in files:
        column[at] = 1 + max((column[each] for each in project.after[at]), default=-1)
        places[at] = (column[at] * _WIDE, heights[column[at]] * _HIGH)
        heights[column[at]] += 1
    lines, boxes = [], []
    for at, (x, y) in places.items():
        for each in sorted(project.after[at]):
            from_x, from_y = places[each][0] + _BOX, places[each][1] + 16
            bend = (from_x + x) // 2
            lines.append(f'<path d="M{from_x},{from_y} C{bend},{from_y} {bend},{y + 16} {x},{y + 16}"/>')
        label = project.units[at].file.path.stem
        label = label if len(label) <= 24 else label[:23] + "…"
        boxes.append(
            f'<a href="#{_anchor(project.units[at])}"><rect x="{x}" y="{y}" width="{_BOX}" height="32" rx="4"/>'
            f'<text x="{x + 10}" y="{y + 21}">{escape(label)}</text></a>'
        )
    wide = _WIDE * max(column.values(), default=0) + _BOX + 2
    high = _HIGH * max(heights.values(), default=1)
    return (
        f'<svg viewBox="-1 -1 {wide} {high}" width="{wide}" role="img" aria-label="what needs what">'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _line(unit: Unit, about: About) -> str:
    creates = ", ".join(f"{table.made.kind} {table.made.name}" for table in about.tables)
    first = about.description.split("\n")[0]
    return f"<tr><td>{_link(unit)}</td><td>{escape(creates)}</td><td>{escape(first)}</td></tr>"


def _section(project: Project, at: int, about: About) -> str:
    unit = project.units[at]
    tags = " ".join(f'<span class="tag">{escape(tag)}</span>' for tag in unit.tags)
    said = "".join(f"<p>{escape(part)}</p>" for part in about.description.split("\n\n") if part)
    needing = [project.units[each] for each in sorted(project.needing(at))]
    sides = {
        "needs": [project.units[each] for each in sorted(project.after[at])],
        "is needed by": [other for other in needing if not other.severity],
        "is tested by": [other for other in needing if other.severity],
    }
    edges = "".join(f"<p>{word}: {', '.join(map(_link, units))}</p>" for word, units in sides.items() if units)
    return (
        f'<h2 id="{_anchor(unit)}">{escape(unit.file.path.stem)} {tags}</h2>'
        f'<p class="quiet">{escape(str(unit.file.path))}</p>{said}{"".join(map(_columns, about.tables))}{edges}'
        f"<pre>{escape(unit.file.text.strip())}</pre>\n"
    )


def _columns(table: Table) -> str:
    title = f"<p><b>{escape(table.made.name)}</b>, a {table.made.kind}</p>"
    if not table.columns:
        return title
    rows = "".join(
        f"<tr><td><code>{escape(column.name)}</code></td><td><code>{escape(column.type)}</code></td>"
        f"<td>{escape(column.description)}</td></tr>"
        for column in table.columns
    )
    return f"{title}<table><tr><th>column</th><th>type</th><th></th></tr>{rows}</table>"


def _tests(project: Project, tests: list[int]) -> str:
    parts = []
    for at in tests:
        unit = project.units[at]
        place = str(unit.file.path) + (", a warning" if unit.severity == "warn" else "")
        parts.append(
            f'<h3 id="{_anchor(unit)}">{escape(unit.file.path.stem)}</h3><p class="quiet">{escape(place)}</p>'
            f"<pre>{escape(unit.steps[0].source.text.strip())}</pre>"
        )
    return f"<h2>Tests</h2>{''.join(parts)}" if parts else ""


def _link(unit: Unit) -> str:
    return f'<a href="#{_anchor(unit)}">{escape(unit.file.path.stem)}</a>'


def _anchor(unit: Unit) -> str:
    return escape(str(unit.file.path).replace(" ", "-"), quote=True)
