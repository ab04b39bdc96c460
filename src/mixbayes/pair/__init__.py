"""The two computing parties at work: preprocessing ahead, training and answering over one stream."""
