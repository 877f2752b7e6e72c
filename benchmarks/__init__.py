"""Benchmarks: each runs us and a named peer in the same process on the same files, in turn."""
