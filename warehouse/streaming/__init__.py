"""Streams and streaming tables in Spark: sources, step log, state, panes, and the feed that runs the steps."""
