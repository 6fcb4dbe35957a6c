"""The findings of an audit in the forms that others ask for.

``rfc008`` is the report of OpenEnv's RFC 008 (environment auto-validation), ``abc`` the Agentic
Benchmark Checklist. Every item is answered with evidence, or says why there is none.
"""

from collections.abc import Callable
from typing import Any, Final

from logtriage.audit.formats.abc import abc
from logtriage.audit.formats.answers import Audited
from logtriage.audit.formats.rfc008 import rfc008

FORMATS: Final[dict[str, Callable[[Audited], dict[str, Any]]]] = {"rfc008": rfc008, "abc": abc}

__all__ = ["FORMATS", "Audited", "abc", "rfc008"]
