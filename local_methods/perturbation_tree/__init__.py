"""Roy's perturbation tree: a kd-tree's leaves, each replaced by its means."""
