"""A player whose process is killed when it first meets an incident in the middle of a run."""

import os
import signal
from pathlib import Path

from logtriage.incident import Incident
from logtriage.policies import Policy
from logtriage.registry import make_policy

#: Names a file that is there once a process was killed.
KILLED = "LOGTRIAGE_TEST_KILLED"


def dying_once(incident: Incident) -> Policy:
    if incident.id.endswith("/6"):
        try:
            Path(os.environ[KILLED]).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return make_policy("expert")(incident)


def refusing(incident: Incident) -> Policy:
    if incident.id.endswith("/6"):
        os.kill(os.getpid(), signal.SIGKILL)
    return make_policy("expert")(incident)
