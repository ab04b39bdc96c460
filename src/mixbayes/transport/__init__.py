"""How nodes reach each other: gRPC with TLS and deadlines; and local sockets for benchmarks."""
