"""The two mixers: they collect contributions, agree on the set, refuse lies, and add up."""
