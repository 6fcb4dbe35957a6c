"""Recorded conversations of any provider or framework become actions and transcripts.

What the agent wrote counts, and nothing that it did is dropped. No framework is imported
here.
"""
