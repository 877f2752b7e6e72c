"""Statements to plans: bind, check, rewrite, explain. Asks the analyzer and the catalog, runs nothing."""
