"""What results: aggregates taken apart into (partial, merge, final).

====================  =====================================================================================
``calls``             an aggregate of a query as it is bound, and what one is taken apart into
``sums``              counts, sums and averages
``sets``              distinct values, and estimates of how many there are
``extremes``          functions that merge their own results; MIN_BY and MAX_BY
``spreads``           variances and covariances
``subtracting``       counts, sums and averages over input that takes rows back
``forms``             which function is taken apart how
``decomposition``     all aggregates of a block taken apart together, those that keep the rows among them
====================  =====================================================================================
"""
