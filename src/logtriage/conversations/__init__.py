"""Recorded conversations of any provider or framework become actions and transcripts.

Every message of the agent counts. No framework is imported here.
"""
