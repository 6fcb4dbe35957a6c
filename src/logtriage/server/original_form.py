"""An observation in the fields of the original LogTriageEnv.

Differences that partial observability makes: ``system_state`` holds the services whose
health is known, and no others. Times are simulated ones, of a day chosen once.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from logtriage.actions import Malformed
from logtriage.observation import observe
from logtriage.rendering import effect_of, status_of
from logtriage.state import State
from logtriage.world.telemetry import TICK_SECONDS

#: Second 0 of every incident.
_EPOCH: Final = datetime(2026, 1, 1)
#: Our words for health, and the original's.
_STATUS: Final = {"ok": "up", "degraded": "degraded", "failing": "down"}


def _time(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).isoformat()


def original_observation(state: State, name: str) -> dict[str, Any]:
    """What the original told of a state, from what may be seen of ours.

    ``name`` is what the incident is called there.
    """
    observation, now = observe(state), state.tick * TICK_SECONDS
    last = state.history[-1][1] if state.history else None
    return {
        "logs": [
            {
                "timestamp": _time(line.second),
                "level": line.level,
                "service": line.service,
                "request_id": None,
                "message": line.message,
                "latency_ms": None,
            }
            for line in (*observation.inspection, *observation.window)
        ],
        "system_state": {
            name: {
                "name": name,
                "status": _STATUS[status_of(reading)],
                "error_rate": None if reading.error_bp is None else reading.error_bp / 10_000,
                "latency_p99_ms": reading.p99_ms,
                "last_updated": _time(now),
            }
            # There is no health panel: its gauges are asked for.
            for name, reading in zip(observation.topology.names, observation.health, strict=False)
            if reading is not None
        },
        "incident_id": name,
        "task_id": state.incident.task,
        "step_count": len(state.history),
        "time_elapsed_seconds": now,
        "active_alerts": [f"{one.name} {one.service}" for one in observation.alerts],
        "last_action_feedback": "" if last is None else effect_of(observation, last),
        "invalid_action_error": last.reason if isinstance(last, Malformed) else None,
    }
