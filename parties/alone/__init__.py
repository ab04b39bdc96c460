"""Two hospitals without mixers: each is a computing party and asks the other."""
