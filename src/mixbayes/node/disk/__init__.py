"""A node's state on disk: the folder, the database and every SQL statement, encrypted values, the audit trail."""
