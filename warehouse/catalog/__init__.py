"""What exists besides Spark's own tables: entries, and the files they are kept in."""
