"""The system prompt of the second world: every public rule, and nothing that is an incident's."""

import re
from typing import get_args

import attrs
import pytest

from logtriage import (
    Incident,
    Malformed,
    incident_ids,
    make_incident,
    parse_action,
    system_prompt,
)
from logtriage.actions import ACTION_TYPES, SEVERITIES
from logtriage.errors import InvalidInput, UnknownName
from logtriage.rendering import Reply
from logtriage.rendering.signs import WORDS, signs_of, word_of
from logtriage.roles import RoleSplit
from logtriage.roles.splits import ROLE_SPLITS, TRIO
from logtriage.tasks import TASKS, TaskSpec
from logtriage.world.loading import load_world
from logtriage.world.model import LOADED, WAITING
from logtriage.world.schema.parts import Kind, Signature
from logtriage.world.setting import FULL
from tests.builders import FIVE_TEAMS

WORLD = load_world("oncall")
#: What has a row in the runbook.
ROWS = (*WORLD.kind_names, WAITING, LOADED, *(one.name for one in WORLD.benign))
SECOND = tuple(task for task in TASKS if task.setting is not None)
every_task = pytest.mark.parametrize("task", SECOND, ids=lambda task: task.id)
#: Characters of the prompt on the default topology by how to answer; what longer names
#: may add, and what each service beyond the seven.
LIMITS: dict[Reply, int] = {"json": 4_500, "tools": 4_300, "plan": 4_600}
NAMES_MORE, EACH = 100, 45
#: What the rules of several faults at once may add.
SEVERAL_MORE = 500


def prompt_of(task: TaskSpec, reply: Reply = "json") -> str:
    return system_prompt(make_incident(f"{task.id}/val/0"), reply)


def rows_of(prompt: str) -> dict[str, str]:
    """The runbook's rows by their names."""
    lines = {re.split(r"[* :]", line)[0]: line for line in prompt.splitlines()}
    return {name: line for name, line in lines.items() if name in ROWS}


# -- size -----------------------------------------------------------------------------


@every_task
def test_the_prompt_is_short(task: TaskSpec) -> None:
    for split in ("val", "ood"):
        for one in incident_ids(task.id, split, 10):
            incident = make_incident(one)
            more = SEVERAL_MORE if task.several else 0
            if incident.topology != FIVE_TEAMS:
                more += NAMES_MORE + EACH * max(0, len(incident.topology) - len(FIVE_TEAMS))
            for reply, limit in LIMITS.items():
                assert len(system_prompt(incident, reply)) <= limit + more


# -- the rules of a task --------------------------------------------------------------


@every_task
def test_the_prompt_names_everything_that_an_answer_may_name(task: TaskSpec) -> None:
    for one in incident_ids(task.id, "ood", 5):
        incident = make_incident(one)
        words = set(re.findall(r"[\w-]+", system_prompt(incident)))
        assert set(incident.topology.names) <= words
        assert set(incident.topology.teams) <= words
        assert {*SEVERITIES, *incident.topology.remedies, *ACTION_TYPES} <= words


@every_task
def test_the_prompt_holds_the_whole_call_graph(task: TaskSpec) -> None:
    for one in incident_ids(task.id, "ood", 5):
        topology = make_incident(one).topology
        prompt = system_prompt(make_incident(one))
        (row,) = (line for line in prompt.splitlines() if line.startswith("SERVICES"))
        tiers = {}
        for part in row.removesuffix(".").split(". ")[1:]:
            tier, _, services = part.partition(": ")
            for service in services.split("; "):
                name, _, calls = service.partition(" -> ")
                tiers[name] = (tier, tuple(calls.split(", ")) if calls else ())
        assert tiers == {one.name: (one.tier, one.calls) for one in topology.services}


@every_task
def test_the_prompt_answers_what_a_player_had_to_guess(task: TaskSpec) -> None:
    setting, prompt = task.setting, prompt_of(task)
    assert setting is not None
    assert f"You have {task.horizon} ticks of 30 s; each action costs one tick" in prompt
    assert f"trouble began {setting.onset} min before tick 0" in prompt
    judged = f"from tick {setting.severity_from} on (earlier it may show less)"
    assert (judged in prompt) is (setting.severity_from > 0)
    assert f"full by tick {setting.par}, 0 at {task.horizon}" in prompt
    assert f"by tick {setting.par_benign} 0.10" in prompt
    assert "3 new lines each time" in prompt
    assert "new readings at ticks 0, 3, 6, …, else the same" in prompt
    assert f"judged at ticks {', '.join(map(str, setting.alert_ticks))}. " in prompt
    assert "A remedy renews these" in prompt
    assert f"LOGS: {setting.noise // 10}% noise" in prompt
    assert "2 ticks after the right page a NOTE may come" in prompt
    assert f"{setting.benign // 10}% of incidents are benign" in prompt
    assert f"FOG: {round(100 * setting.fog_weight / FULL)}% of readings" in prompt
    assert "minor faults" in prompt
    assert (f"Before tick {setting.root_silent}" in prompt) is (setting.root_silent > 0)
    assert ("Signs grow" in prompt) is (setting.grows_for > 0)
    assert ("a service that others call" in prompt) is setting.called_only
    assert ("name the cause" in prompt) is (setting.fog <= 1)


def test_the_prompt_holds_the_severity_rule() -> None:
    prompt = prompt_of(SECOND[0])
    (line,) = (one for one in prompt.splitlines() if one.startswith("SEVERITY"))
    for fact in ("errors or p99", "P1 from 5% or 2000 ms", "P2 from 1% or 800 ms", "else P3"):
        assert fact in line


def test_the_prompt_holds_the_grade() -> None:
    (line,) = (one for one in prompt_of(SECOND[0]).splitlines() if one.startswith("GRADE"))
    for fact in (
        "severity 0.15 (one class off: a quarter)",
        "root cause 0.25 (0 once fixed)",
        "right page 0.25",
        "remedy 0.25 (-40% per wrong one, half if not paged before)",
        "resolve once fixed 0.10",
        "Without the right page all x c/0.625: at best c, the screen's price of silence",
        "Per wrong remedy before that page: all x 0.7",
        "Wrong page, or ignoring a fault: 0, the end",
        "severity 0.20, ignore 0.70 (0 if you blamed a service, -20% per remedy)",
        "First declarations count",
    ):
        assert fact in line


def test_of_a_rubric_of_one_s_own_nothing_is_said() -> None:
    incident = make_incident("single_crash-v3/val/0")
    own = system_prompt(attrs.evolve(incident, rubric="mine/1"))
    assert "GRADE" not in own
    assert set(system_prompt(incident).splitlines()) > set(own.splitlines())


@every_task
def test_nothing_of_an_incident_stands_in_the_prompt(task: TaskSpec) -> None:
    one, two = (make_incident(f"{task.id}/val/{index}") for index in (1, 2))
    if one.topology == two.topology:
        assert system_prompt(one) == system_prompt(two)
    other = attrs.evolve(one, truth=two.truth, directory=two.directory, price_of_silence=0.6)
    assert system_prompt(other) == system_prompt(one)
    assert task.name not in system_prompt(one)


@pytest.mark.parametrize("reply", get_args(Reply))
def test_how_to_answer_is_all_that_differs_between_ways_to_answer(reply: Reply) -> None:
    prompt = prompt_of(SECOND[0], reply)
    assert (
        prompt.split("ANSWER")[0].split("You see one screen")[0]
        == prompt_of(SECOND[0]).split("ANSWER")[0]
    )


def test_the_prompt_s_own_example_is_an_action() -> None:
    incident = make_incident("fleet_outage-v3/val/0")
    (line,) = (one for one in system_prompt(incident).splitlines() if one.startswith("ANSWER"))
    assert not isinstance(parse_action(line, incident.topology), Malformed)


# -- roles ----------------------------------------------------------------------------


@pytest.mark.parametrize("split", ROLE_SPLITS.values(), ids=lambda split: split.name)
def test_a_role_is_told_of_its_views_in_this_world(split: RoleSplit) -> None:
    incident = make_incident("cascading_failure-v3/val/0")
    for role in split.roles:
        prompt = system_prompt(incident, split=split, role=role.name)
        assert "health" not in prompt.partition("SERVICES")[0]
        if len(split) == 1:
            continue
        told_of = prompt.partition("YOU see ")[2].partition(". OTHERS")[0]
        for view, words in (
            ("metrics", "requested metrics"),
            ("traces", "requested traces"),
            ("notes", "notes of responders"),
        ):
            assert (words in told_of) is (view in role.views)
        actions = prompt.rpartition("ACTIONS: ")[2]
        assert {row.split()[0] for row in actions.split("; ")} == set(role.may)


def test_a_role_needs_its_split_and_must_be_in_it() -> None:
    incident = make_incident("single_crash-v3/val/0")
    with pytest.raises(InvalidInput, match="both the split and the role"):
        system_prompt(incident, role="triage")
    with pytest.raises(UnknownName, match="'sre'"):
        system_prompt(incident, split=TRIO, role="sre")


# -- signs, from the signature table --------------------------------------------------


def test_words_by_share() -> None:
    assert [word_of(share) for share in (100, 60, 59, 30, 29, 10, 9, 0)] == [
        "usually",
        "usually",
        "often",
        "often",
        "sometimes",
        "sometimes",
        None,
        None,
    ]
    prompt = prompt_of(SECOND[0])
    assert "usually 60%+; often 30-60%; sometimes 10-30%" in prompt


def every_signature() -> dict[str, Signature]:
    return {**WORLD.signatures, "background": WORLD.rules.background}


def test_every_token_of_the_table_has_a_short_name_of_its_own() -> None:
    for name, signature in every_signature().items():
        for sort, shares in signature.items():
            assert set(shares) <= set(WORLD.words[sort]), (name, sort)
    short = [text for names in WORLD.words.values() for text in names.values()]
    assert len(short) == len(set(short))


@pytest.mark.parametrize("name", every_signature())
def test_signs_are_the_shares_of_the_table(name: str) -> None:
    """Every share stands under its word; of one gauge the rarer reading may go unsaid."""
    signature, signs = every_signature()[name], signs_of(WORLD, every_signature()[name])
    places = {
        text: (sort, token) for sort, row in WORLD.words.items() for token, text in row.items()
    }
    for word, texts in signs.items():
        for text in texts:
            sort, token = places[text]
            assert word_of(signature[sort][token]) == word
    told_of = {text for texts in signs.values() for text in texts}
    for sort, shares in signature.items():
        strongest = max(shares.values(), default=0)
        for token, share in shares.items():
            if share >= WORDS[-1][1] and (
                sort not in ("cpu", "memory", "workers", "traffic") or share == strongest
            ):
                assert WORLD.words[sort][token] in told_of


def columns_of(row: str) -> list[set[str]]:
    """The short names in each column of a row, those of pairs one by one."""
    columns = []
    for column in row.partition(": ")[2].split("; "):
        names = set(column.split(", ")) - {"-"}
        columns.append({one for name in names for one in WORLD.pairs.get(name, (name,))})
    return columns


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_runbook_says_exactly_the_signs(name: str) -> None:
    signs = signs_of(WORLD, WORLD.signatures[name])
    row = rows_of(prompt_of(SECOND[0]))[name]
    said = columns_of(row)
    said += [set()] * (len(signs) - len(said))
    assert said == [set(names) for names in signs.values()]


@pytest.mark.parametrize("kind", WORLD.kinds, ids=lambda kind: kind.name)
def test_a_row_of_a_fault_says_where_it_can_strike_and_what_helps(kind: Kind) -> None:
    heading = rows_of(prompt_of(SECOND[0]))[kind.name].partition(":")[0]
    name, tiers, remedies = heading.split(" ")
    assert name == kind.name
    assert set(remedies.split("/")) == set(kind.remedies)
    told_of = (
        WORLD.tier_names
        if tiers == "any"
        else [tier for tier in WORLD.tier_names if tier[0] in tiers]
    )
    assert set(told_of) == set(kind.tiers)


def test_what_stands_for_more_than_it_says_is_explained() -> None:
    prompt = prompt_of(SECOND[0])
    for letter, pair in WORLD.pairs.items():
        assert f"{letter}: {', '.join(pair)}." in prompt
    assert len({tier[0] for tier in WORLD.tier_names}) == len(WORLD.tier_names)
    for legend in ("tiers (initials)", "Own: by traces", "Hot, idle: CPU", "Busy, full: workers"):
        assert legend in prompt
    assert "~: log topics" in prompt
    topics = {text for sort, row in WORLD.words.items() if sort == "log" for text in row.values()}
    others = {text for sort, row in WORLD.words.items() if sort != "log" for text in row.values()}
    assert all(text.startswith("~") for text in topics)
    assert not any(text.startswith("~") for text in others)


def test_a_class_of_faults_stands_under_whom_to_page() -> None:
    incident: Incident = make_incident("single_crash-v3/val/0")
    title, found = "", {}
    for line in system_prompt(incident).splitlines():
        if line.endswith("):"):
            title = line
        else:
            found[re.split(r"[* :]", line)[0]] = title
    whom = {
        "code": "owner in DIRECTORY",
        "data": "owner in DIRECTORY",
        "capacity": f"page {incident.topology.pages('capacity')}",
        "security": f"page {incident.topology.pages('security')}",
    }
    for kind in WORLD.kinds:
        assert whom[kind.fault_class] in found[kind.name]
        assert kind.fault_class in found[kind.name]


def test_kinds_that_cannot_be_the_root_are_marked_where_faults_creep_in() -> None:
    task = next(one for one in SECOND if one.name == "silent_degradation")
    rows = rows_of(prompt_of(task))
    for kind in WORLD.kinds:
        assert rows[kind.name].startswith(f"{kind.name}{'' if kind.drifts else '*'} ")
    assert "*: only minor here." in prompt_of(task)
