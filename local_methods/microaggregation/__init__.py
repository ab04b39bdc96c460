"""Microaggregation: confidential cells replaced by the means of groups of at least k rows."""
