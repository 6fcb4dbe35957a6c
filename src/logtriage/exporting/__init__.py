"""Drawn incidents as telemetry in the field's formats, for agents that read these.

OTLP in JSON lines (logs, traces, metrics) and notifications of Alertmanager's webhook. The files
hold the screens of someone who looks at everything all the time and does nothing; the truth is in
none of them. ``logtriage import capture`` reads them back.
"""

from logtriage.exporting.write import OPENED, write_alertmanager, write_labels, write_otlp

__all__ = ["OPENED", "write_alertmanager", "write_labels", "write_otlp"]
