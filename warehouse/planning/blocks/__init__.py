"""One query block with clauses of ours: its words looked up and judged by Spark, then taken apart or assigned."""
