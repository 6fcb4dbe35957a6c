"""CSV and the field's formats: OTLP JSON lines, Jaeger traces, Prometheus, Alertmanager.

Each module reads one of them into the rows of :mod:`logtriage.recorded.rows`;
:func:`~logtriage.recorded.formats.capture.import_capture` makes incidents of a folder of them.
"""
