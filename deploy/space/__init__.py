"""logtriage as an OpenEnv package; everything is in the wheel beside this file."""
