"""For researchers; no node needs it: the papers' experiments, and the study of four real hospitals."""
