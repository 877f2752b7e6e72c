"""Exit codes."""

OK, FAILED, TROUBLE, CANCELLED = 0, 1, 2, 130
