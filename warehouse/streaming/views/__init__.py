"""What batch queries read: views over streams and streaming tables, ``panes``, ``stream_state``, ``AS OF STEP``."""
