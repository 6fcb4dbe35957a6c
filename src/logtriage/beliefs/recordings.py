"""What a fitted world makes of a recording: a model, whose calibration must be measured."""

from logtriage.beliefs.model import any_model_of
from logtriage.beliefs.posterior import Posterior, Seen, posterior
from logtriage.recorded.fitting.signs import evidence_of, signs_of
from logtriage.recorded.telemetry import RecordedTelemetry
from logtriage.state import State
from logtriage.tasks import setting_of
from logtriage.world.model import World
from logtriage.world.schedule import Doings
from logtriage.world.setting import Setting


def modelled(state: State, world: World, fog: int = 0) -> tuple[Setting, Posterior]:
    """The setting of a world's first task, and the posterior of a recording under it.

    Made of the figures that the state has shown: those of every service on a dashboard, else
    those that were asked for.

    Raises:
        InvalidInput: for an incident that is no recording.
    """
    incident, telemetry = state.incident, state.incident.telemetry
    asked = None
    if isinstance(telemetry, RecordedTelemetry) and telemetry.on_request:
        asked = [(tick + 1, service) for tick, service in state.facts.doings.metrics]
    shown = evidence_of(signs_of(incident, state.tick, asked), world)
    setting = setting_of(world, world.rules.tasks[0], fog)
    model = any_model_of(setting, incident.topology, None)
    return setting, posterior(model.listed, Seen(incident.directory, shown, Doings()))
