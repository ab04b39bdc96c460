"""The kinds of attributes, one class each, and the dictionary and the layout that are made of them.

Read `kind.py` first: it is everything that the rest of the protocol asks of an attribute. Then in this order:

- `cells`, `fields`: what a cell of a table says, and the checked fields of a dictionary.
- `asking`: the two ways of asking about an attribute privately, one entry or a sum of features.
- `discrete`, with `nominal` and `binned`: a count for every value and class, a logarithm for every count.
- `several`: cells with several values, each present or absent.
- `gaussian`, with `gaussian_moments`, `gaussian_validity` and `gaussian_density`: moments, and the log-density that
  they give; `numbers` reads cells that are numbers.
- `registry`: the kinds that there are.
- `dictionary`, `layout`: classes and attributes that were agreed on, and where each count stands in a contribution.
"""
