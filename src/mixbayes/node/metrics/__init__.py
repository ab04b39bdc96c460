"""What a node tells Prometheus. Only this folder knows the package prometheus_client, which is an extra."""
