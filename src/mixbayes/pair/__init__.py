"""The two computing parties at work: a question, a model on disk, Paillier randomness made ahead."""
