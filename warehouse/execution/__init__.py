"""The Spark session: jars, locks, start, and what a statement gives back."""
