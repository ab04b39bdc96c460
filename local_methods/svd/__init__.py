"""The comparators of Li and Xi: a release of the leading singular components."""
