"""What travels between machines, generated from `proto/`."""
