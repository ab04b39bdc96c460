"""Differential privacy: the noise, and what a sequence of releases promises."""
