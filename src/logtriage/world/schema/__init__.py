"""The schema of a world's folder: what its files hold, read field by field."""
