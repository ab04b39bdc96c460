"""Noise on confidential numbers: the comparators of Roy's perturbation tree."""
