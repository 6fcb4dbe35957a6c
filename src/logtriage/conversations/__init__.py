"""Turn recorded conversations of any provider or framework into actions and transcripts.

Every message of the agent counts. No framework is imported here.
"""
