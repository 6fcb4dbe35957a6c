"""Adapters: logtriage at home in other people's frameworks."""
