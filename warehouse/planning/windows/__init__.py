"""Window and trigger clauses: as written to as computed, those of the user's own too, and a trigger told in words."""
