"""The rounds of a computing party: its states and transitions, and how the leader and the follower agree on them."""
