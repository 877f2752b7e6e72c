"""What there is already under a name, and what becomes of a streaming table that another query replaces."""
