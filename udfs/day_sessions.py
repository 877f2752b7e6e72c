"""Sessions that end at midnight (UTC): ``WINDOW day_sessions (ts, gap)``.

Rows less than ``gap`` apart join, as in SESSIONS, but a session never crosses from one day into the next.
"""

from warehouse.dataflow.custom import CustomWindow


class DaySessions(CustomWindow):
    """A row's window reaches ``gap`` beyond it, at most to midnight; windows that overlap join."""

    def assign(self, ts: str, gap: str) -> tuple[str, str]:
        """Return [ts, ts + gap), cut at midnight."""
        midnight = f"date_trunc('DAY', {ts}) + INTERVAL '1' DAY"
        return ts, f"least({ts} + {gap}, {midnight})"

    def merge(self, left_end: str, right_start: str) -> str:
        """Return that windows join when they overlap: exactly ``gap`` apart they stay two."""
        return f"{right_start} < {left_end}"
