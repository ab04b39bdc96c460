"""What a hospital may do to its own table before its rows are counted."""
