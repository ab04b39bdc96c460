"""The two mixers: they collect contributions, agree on the set, refuse lies, train, and answer questions."""
