"""The two mixers: they collect, check, train and answer, and keep their state on disk."""
