"""What hospitals agree on before anything runs. Empty in this version: a simulation infers its dictionary."""
