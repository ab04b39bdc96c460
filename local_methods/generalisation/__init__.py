"""k-anonymity by generalisation and suppression: top-down specialisation and refinement of Fung, Wang and Yu."""
