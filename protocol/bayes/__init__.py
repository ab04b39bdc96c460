"""Naive Bayes on shares: from counts to a model (training), from questions to labels (classification)."""
