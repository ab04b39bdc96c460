"""Attacks on releases: each is given what an attacker has, and says which patients it believes to be in the table."""
