"""What any node keeps on disk and says aloud: its database, the seal on it, the audit trail, the log."""
