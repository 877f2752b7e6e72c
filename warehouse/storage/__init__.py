"""How tables are kept: distributed by keys, with statistics per partition, in the columnar memory store."""
