"""The bench: the two files by which a newcomer adds a kind of fault to a copy of a world."""

from pathlib import Path
from typing import Final

from logtriage.world.copies import copy_world
from logtriage.world.loading import load_world
from logtriage.world.model import World

KIND: Final = "dns_misconfig"
TEAM: Final = "platform-team"
FILES: Final = {
    f"kinds/{KIND}.toml": """
order = 17
class = "code"
pages = "platform-team"
tiers = ["service"]
remedies = ["rollback"]
errors_first = true
drifts = true
summary = "names resolve to a wrong address"

[signature]
change = { config = 66 }
log = { name_lookup = 40, no_connection = 16, exceptions = 8 }
cpu = { low = 35 }
workers = { busy = 30 }
time = { itself = 30 }
errors = { itself = 68 }

[names]
train = [
  ["ERROR", "DNS misconfigured: the zone points to an address that nobody has"],
  ["ERROR", "wrong DNS record, every lookup ends at a dead host"],
]
test = [["ERROR", "zone file edited by mistake, names lead nowhere"]]
ood = [["ERROR", "the address book is wrong, calls go to an empty house"]]

[past]
train = ["a wrong DNS record"]
test = ["a mistake in a zone file"]
ood = ["a wrong entry in the address book"]
""",
    "topics/name_lookup.toml": """
order = 19
tiers = ["edge", "service", "datastore", "queue"]
word = "~name lookup"
background = 2

[phrasings]
train = [
  ["WARN", "name lookup failed {n} times, next try in {ms} ms"],
  ["ERROR", "cannot resolve the name of a host"],
]
test = [["WARN", "resolver gave no address after {ms} ms"]]
ood = [["WARN", "asked {n} times where to go, nobody knew"]]
""",
}


def newcomers_world(folder: Path) -> World:
    """A copy of the world ``oncall`` with the two files, in a folder that is not there yet."""
    copy_world("oncall", folder)
    for path, text in FILES.items():
        (folder / path).write_text(text.lstrip())
    return load_world(folder)
