"""From an id to an incident: ids and seeds, the truth that they draw, and the sealed split."""
