"""Programs that train agents on logtriage. Not part of the package; each says what it needs."""
