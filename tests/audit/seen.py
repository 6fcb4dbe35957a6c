"""Whether anybody would notice a fault."""

from logtriage.incident import Incident
from logtriage.world.channels import Channel
from logtriage.world.schedule import Doings


def is_seen(incident: Incident) -> bool:
    """Whether a screen before the horizon shows the fault, if nothing is done."""
    drawn = incident.simulation
    assert drawn is not None
    usual = {
        Channel.EDGE: drawn.setting.world.edge_tokens[0],
        Channel.ALERT: drawn.setting.world.tokens.alert.ordinary,
    }
    return any(
        cell.token != usual.get(cell.channel, cell.token)
        and (cell.channel is Channel.EDGE or cell.service in drawn.reached)
        for now in range(incident.horizon)
        for cell in drawn.shown(now, Doings())
    )
