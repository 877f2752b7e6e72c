"""GENERATE bound to the steps that train a model, and models asked by SQL functions."""
