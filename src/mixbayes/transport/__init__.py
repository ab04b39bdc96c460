"""How roles reach each other: local sockets with deadlines, and a contribution as bytes."""
