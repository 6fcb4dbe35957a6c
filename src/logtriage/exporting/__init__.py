"""Export of drawn incidents, as OTLP in JSON lines and as Alertmanager's notifications."""

from logtriage.exporting.write import OPENED, write_alertmanager, write_labels, write_otlp

__all__ = ["OPENED", "write_alertmanager", "write_labels", "write_otlp"]
