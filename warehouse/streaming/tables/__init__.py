"""Streaming tables made, asked, dropped, and given another query in the place of the one they have."""
