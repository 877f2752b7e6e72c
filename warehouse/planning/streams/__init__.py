"""Streams: what CREATE STREAM may say, and what a ``STREAM name`` in a query stands for."""
