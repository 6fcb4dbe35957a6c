"""What is a user's own, as tests of frameworks name it: a module of tasks, and a bundle."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Final

import attrs
import pytest

import logtriage as lt
from logtriage.drawing.generator import draw_incident
from logtriage.drawing.ids import IncidentId
from logtriage.incident import Incident
from logtriage.recorded import dump_bundle, on_request, read_records

#: The horizon of ``SHEET``; the task whose id it has plays longer.
SHORT: Final = 7
#: ``SHEET`` draws other incidents than the task whose id it has; ``draw`` names none by an id.
MODULE = f"""
import attrs

from logtriage import get_task
from logtriage.drawing.generator import draw_incident
from logtriage.grading import TRIAGE_3
from logtriage.drawing.ids import IncidentId

SHEET = attrs.evolve(get_task("single_crash-v4"), horizon={SHORT})
HARSH = attrs.evolve(TRIAGE_3, id="harsh/1", discounts=())
NUMBER = 3


def draw(split, number):
    drawn = draw_incident(SHEET, IncidentId(SHEET, split, number))
    return attrs.evolve(drawn, id="one of mine")
"""


def own_module(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module under that name, in the working directory."""
    (folder / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def short_incident(split: str, number: int) -> Incident:
    """What ``SHEET`` of the module draws."""
    sheet = attrs.evolve(lt.get_task("single_crash-v4"), horizon=SHORT)
    return draw_incident(sheet, IncidentId(sheet, split, number))


def own_bundle(path: Path) -> list[str]:
    """A bundle of two recorded incidents, shown on request, that do not ship; their ids."""
    name = "trainticket.jsonl.gz"
    with files("logtriage").joinpath("data", "recorded", name).open("rb") as file:
        records = read_records(file, name=name)[:2]
    ids = ["acme/second", "acme/first"]
    made = zip(ids, map(on_request, records), strict=True)
    dump_bundle((attrs.evolve(one, id=new, horizon=6) for new, one in made), path)
    return ids
