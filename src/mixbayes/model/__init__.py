"""A model that an agreement gives to hospitals: the noisy counts as a file, and the classifier that they make."""
