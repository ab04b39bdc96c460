"""Kim's search for a group size, for any parameter of which more, or less, is more private."""
