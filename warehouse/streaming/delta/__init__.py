"""What steps append to: Delta tables of panes, late rows and bad rows, and the upkeep of their files and logs."""
