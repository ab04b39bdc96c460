"""The kinds of attributes, one class each, and the dictionary and the layout that are made of them."""
