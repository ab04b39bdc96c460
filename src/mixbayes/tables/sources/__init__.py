"""Where tables are: files, folders of files, databases, Spark. Every source yields the same cells of the same table."""
