"""Recoding: every cell by an agreed rule, whatever the other rows hold."""
