"""A typed statement to its plan: what it names is checked, what is ours in it bound, spans of its text rewritten."""
