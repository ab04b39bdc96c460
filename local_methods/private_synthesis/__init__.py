"""Private synthesis (McKenna, Miklau and Sheldon's MST): rows drawn from noisy counts, with a promise about people."""
