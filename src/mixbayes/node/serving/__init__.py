"""A node's server and its calls to other nodes: admission, greeting, streams, conversations."""
