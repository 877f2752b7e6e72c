"""The live windows of streaming tables on disk, as files that are never changed, and the part of them in memory."""
