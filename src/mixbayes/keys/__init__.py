"""Private keys, certificate requests, certificates, and the authority that signs them."""
