"""Raw rows of telemetry become a recording: figures by tick, log windows, alerts, the call graph.

Nothing here knows a file format or the fault.
"""
