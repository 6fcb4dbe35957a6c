"""Drawn incidents as telemetry in the field's formats, for any agent that reads those.

OTLP in JSON lines (logs, traces, metrics) and notifications of Alertmanager's webhook. What is
written is what the world would show to someone who looks at everything all the time and does
nothing; nothing that is written knows the truth. ``logtriage import otlp`` reads it back.
"""

from logtriage.exporting.write import OPENED, write_alertmanager, write_labels, write_otlp

__all__ = ["OPENED", "write_alertmanager", "write_labels", "write_otlp"]
