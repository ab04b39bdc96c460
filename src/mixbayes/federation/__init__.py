"""What the nodes of a federation agree on before anything runs, and the keys by which they know each other."""
