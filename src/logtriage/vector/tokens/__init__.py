"""Incidents and episodes as arrays: what is drawn, shown, done and earned in each row."""
