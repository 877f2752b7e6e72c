"""A trigger that fires after 1, 2, 4, 8, … rows: ``TRIGGER doubling ()``, or ``doubling (first, limit)``.

Many panes while a window is young and its result moves much, few when one row more hardly changes it. With a
``limit``, an interval, rows wait no longer than that in processing time.
"""

from collections.abc import Mapping

from warehouse.dataflow.custom import Arrived, CustomTrigger, Kept, TriggerView


class Doubling(CustomTrigger):
    """Remembers how many rows the next pane waits for, and doubles that whenever it fires."""

    goes_on = True

    def arrived(self, first: str = "1", limit: str | None = None) -> Mapping[str, Arrived]:
        """Return nothing: how many rows have arrived is known anyway."""
        return {}

    def kept(self, window: TriggerView, first: str = "1", limit: str | None = None) -> Mapping[str, Kept]:
        """Return the number of rows to wait for. Of sessions that merge, the more impatient one wins."""
        return {"target": Kept("bigint", first, f"{window['target']} * 2", "min")}

    def on_rows(self, window: TriggerView, first: str = "1", limit: str | None = None) -> str:
        """Return that enough rows have arrived since the last pane."""
        return f"{window.rows} >= {window['target']}"

    def on_time(self, window: TriggerView, first: str = "1", limit: str | None = None) -> str | None:
        """Return when the first row that waits has waited for ``limit``."""
        return limit and f"{window.first_arrival} + {limit}"
