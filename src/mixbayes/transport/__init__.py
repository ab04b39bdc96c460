"""How nodes reach each other: TLS, channels, deadlines, and errors that name the peer."""
