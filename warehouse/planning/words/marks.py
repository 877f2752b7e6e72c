"""Stand-ins for the user's words in generated text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warehouse.language.fragments import Fragment, Piece


@dataclass
class Marks:
    """Stand-ins for fragments inside generated text, so that the user's words keep their places through it."""

    fragments: list[Fragment] = field(default_factory=list)

    def mark(self, fragment: Fragment) -> str:
        """Return a word that stands for ``fragment``."""
        self.fragments.append(fragment)
        return f"__w_mark{len(self.fragments) - 1}__"

    def expand(self, text: str) -> Fragment:
        """Return ``text`` with all stand-ins replaced by what they stand for."""
        pieces: list[Piece] = []
        for number, part in enumerate(re.split(r"__w_mark(\d+)__", text)):
            pieces += self.fragments[int(part)].pieces if number % 2 else [Piece(part)]
        return Fragment(tuple(p for p in pieces if p.text))
