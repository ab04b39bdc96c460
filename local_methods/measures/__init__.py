"""How far a release is from its original, how useful it is, and what it gives away."""
