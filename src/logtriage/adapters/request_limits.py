"""Limits of a request to a served model, and the error for a request that fails."""

from typing import Final

from logtriage.errors import LogTriageError

#: The longest reply in tokens: a model may think before it speaks.
MAX_TOKENS: Final = 8_192
#: Seconds for one request.
TIMEOUT: Final = 120.0
#: How often a request is sent again.
RETRIES: Final = 3


class EndpointError(LogTriageError):
    """The endpoint failed, or its answer is no chat completion."""
