"""Drawn incidents as OTLP in JSON lines and Alertmanager's notifications, without the truth."""

from logtriage.exporting.write import OPENED, write_alertmanager, write_labels, write_otlp

__all__ = ["OPENED", "write_alertmanager", "write_labels", "write_otlp"]
