"""What comes of one lie of one role: the liar, small federations to lie in, and the fate of every lie."""
