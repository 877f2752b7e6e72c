"""Whole queries: written out, rendered for who reads them, and bound where they are those of streaming tables."""
