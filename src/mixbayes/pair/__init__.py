"""What the computing parties prepare outside the protocol: Paillier randomness."""
