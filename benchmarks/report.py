"""What a benchmark leaves behind: a table of text, the figures as JSON, and a picture, all in ``benchmarks/out``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent / "out"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def keep(name: str, text: str, figures: object) -> None:
    """Print a report and write it down, with the figures (dataclasses, or lists and mappings of them) beside it."""
    print(text)
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    (OUT / f"{name}.json").write_text(json.dumps(figures, indent=1, default=_plain) + "\n", encoding="utf-8")


def bars(name: str, title: str, cases: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Draw bars of seconds, one group a case and one colour a system, on a logarithmic scale.

    Draws nothing where matplotlib is not installed.

    Args:
        series: per system a figure for each case; NaN where there is none.
    """
    try:
        import matplotlib
    except ModuleNotFoundError:
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(max(6.0, 0.5 * len(cases) * len(series) ** 0.5), 4), layout="constrained")
    width = 0.8 / len(series)
    for number, (system, values) in enumerate(series.items()):
        places = [case + (number - (len(series) - 1) / 2) * width for case in range(len(cases))]
        axes.bar(places, values, width, label=system)
    axes.set(title=title, ylabel="seconds", yscale="log")
    axes.set_xticks(range(len(cases)), cases)
    axes.legend(ncols=len(series), fontsize="small", frameon=False)
    axes.grid(axis="y", linewidth=0.4)
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / f"{name}.svg")
    pyplot.close(figure)


def curves(name: str, panels: Mapping[str, Sequence[tuple[float, float]]], across: str, mark: float) -> None:
    """Draw curves from zero, each in a panel of its own.

    Draws nothing where matplotlib is not installed.

    Args:
        panels: per title the points. across: what goes across. mark: where a dashed line stands.
    """
    try:
        import matplotlib
    except ModuleNotFoundError:
        return
    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = -(-len(panels) // 4)
    figure, grid = pyplot.subplots(rows, 4, figsize=(14, 1.9 * rows), layout="constrained", squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, (title, points) in zip(grid.flat, panels.items(), strict=False):
        axes.plot([x for x, _ in points], [y for _, y in points], linewidth=1)
        axes.axvline(mark, linestyle="--", linewidth=0.6, color="gray")
        axes.set_title(title, fontsize="small")
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize="x-small")
    figure.supxlabel(across, fontsize="small")
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / f"{name}.png", dpi=110)
    pyplot.close(figure)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{value!r} cannot be written as JSON")
