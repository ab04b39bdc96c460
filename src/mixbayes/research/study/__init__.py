"""What four real hospitals gain by joining, and what each protection of their tables costs and gives away."""
