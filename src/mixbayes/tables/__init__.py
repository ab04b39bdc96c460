"""A hospital's table: reading it, inferring a dictionary from it, encoding, protecting and counting it."""
