"""Machine learning: MLlib's algorithms by reflection, training, stored models, predictions as SQL functions."""
