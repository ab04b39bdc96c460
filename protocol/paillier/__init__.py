"""The exact protocol of two hospitals under Paillier's encryption: key, training, classification, and the reference."""
