"""Whether a user's world is fit to be played: the findings of ``logtriage world check``."""
