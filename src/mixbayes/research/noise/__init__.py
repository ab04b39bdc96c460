"""What noise on the joint counts costs in accuracy, beside what hospitals could do otherwise; in the clear."""
