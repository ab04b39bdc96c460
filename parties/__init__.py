"""The hospital's node: its data, its contribution, its questions and its local service."""
