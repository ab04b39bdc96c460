"""A hospital: its table and its contribution."""
