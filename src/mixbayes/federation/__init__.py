"""What the hospitals sign off before anything runs: the agreement, its policy and everyone's keys."""
