"""Attacks on what answers give away: an asker that lies on the way, and one that follows the protocol."""
