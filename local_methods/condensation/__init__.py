"""Condensation (Aggarwal and Yu) and class-wise condensation (Kim): rows drawn anew from the moments of groups."""
