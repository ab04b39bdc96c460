"""DMPD, data mining privacy by decomposition (Jena and Kamila): k-anonymous projections of a table."""
