"""The Dataflow Model as generated SQL: windows, partial aggregates, triggers, the step. Text in, text out."""
