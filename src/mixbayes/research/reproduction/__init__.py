"""The papers' experiments on public tables: what was published beside what is measured here."""
