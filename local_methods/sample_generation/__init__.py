"""Sample generation (Li and Xi): random rows that the original's classifiers label alike."""
