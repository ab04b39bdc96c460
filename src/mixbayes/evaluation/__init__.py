"""What opened counts say of a classifier: from confusions and histograms to figures, intervals and a recommendation."""
