"""What the nodes of a federation agree on before anything runs: who takes part, by which rules."""
