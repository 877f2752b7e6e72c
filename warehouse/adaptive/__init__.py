"""Plans that change while they run: the rule that runs a join's likely small side first, and EXPLAIN ANALYZE."""
