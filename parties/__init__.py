"""A hospital: its table, its contribution, its questions, and its node."""
