"""What can keep a node from working, looked at one by one before it does, each with its remedy."""
