"""Sizes and times as people read them."""

from __future__ import annotations

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def size(count: float) -> str:
    """Return a number of bytes with its unit.

    Example:
        >>> size(1), size(999), size(1536), size(10485760)
        ('1 byte', '999 bytes', '1.5 KB', '10.0 MB')
    """
    if count == 1:
        return "1 byte"
    number = 0
    while count >= 1024 and number < len(_UNITS) - 1:
        count, number = count / 1024, number + 1
    return f"{count:.0f} bytes" if number == 0 else f"{count:.1f} {_UNITS[number]}"


def duration(milliseconds: float) -> str:
    """Return a time with its unit.

    Example:
        >>> duration(3.4), duration(1500), duration(90_000)
        ('3 ms', '1.5 s', '1 min 30 s')
    """
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number and what it counts.

    Example:
        >>> count(1, "row"), count(1200, "row"), count(0, "entry", "entries")
        ('1 row', '1,200 rows', '0 entries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
