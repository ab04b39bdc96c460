"""Checks of everything that can keep a node from working, each with its remedy."""
