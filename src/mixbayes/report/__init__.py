"""Reports for people: one page of HTML that needs nothing else, with pictures and the numbers behind them."""
