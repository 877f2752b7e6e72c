"""One step of a streaming table: rows in, wrong and late ones set aside, windows merged, panes out, the commit."""
