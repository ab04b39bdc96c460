"""Kim's search for a group size, for any parameter that makes a release more private as it grows, or as it falls."""
