"""Select lists as text."""

from __future__ import annotations


def columns(*names: str | tuple[str, ...]) -> str:
    """Return a select list of the given names; empty ones are left out."""
    return ", ".join(n for name in names for n in ((name,) if isinstance(name, str) else name) if n)
