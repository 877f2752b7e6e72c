"""What EXPLAIN says of our own: plans, windowed blocks and streaming tables, GENERATE."""
