"""Streams: what CREATE STREAM settles, and their rows as a streaming frame, as SQL text, or as a recording replayed."""
