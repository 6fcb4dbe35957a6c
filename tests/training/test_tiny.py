"""The small model from nothing: its tokenizer, its demonstrations, its warm start."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from rich.console import Console
from trl.chat_template_utils import is_chat_template_prefix_preserving, parse_response

import logtriage as lt
from logtriage.actions import (
    ClassifySeverity,
    Escalate,
    IdentifyRootCause,
    Remediate,
    Remedy,
    RequestMoreLogs,
    Severity,
)
from logtriage.adapters.conversations import actions_of_conversation
from logtriage.adapters.tools import call_from_action
from logtriage.adapters.trl import TriageEnv
from logtriage.errors import InvalidInput
from logtriage.evaluation import play_episode
from logtriage.grading import grade_actions
from logtriage.parsing import action_to_wire
from logtriage.policies import ObserverPolicy
from logtriage.registry import make_policy
from logtriage.rng import Stream
from logtriage.topology import FIVE_TEAMS
from training.evaluate import held_out
from training.evaluate.phases import Phases
from training.language.loading import load_model, load_tokenizer
from training.language.sources import Source
from training.tiny import build as building
from training.tiny.__main__ import main
from training.tiny.demonstrations import (
    cause_first,
    demonstrated,
    demonstration,
    demonstration_ids,
)
from training.tiny.drills import ROUNDS, drill, drilled, rehearsed
from training.tiny.model import build_model
from training.tiny.reading import NOTHING, read_loss, readings
from training.tiny.settings import CLEAR, TEACHERS, Settings, Size
from training.tiny.tokenizer import ASSISTANT, PAD, answer_words, build_tokenizer
from training.tiny.warm_start import IGNORED, labelled

ID = "cascading_failure-v2-fog0/train/42"
PLAIN = Settings(slips=0, shy=0)


@pytest.fixture(scope="module")
def said() -> list[list[dict[str, Any]]]:
    settings = Settings(slips=200, shy=300)
    ids = demonstration_ids(12, settings.tasks, Source())
    return [demonstration(lt.make_incident(one), settings) for one in ids]


@pytest.fixture(scope="module")
def tokenizer(said: list[list[dict[str, Any]]]) -> Any:
    return build_tokenizer(said, 2048)


# -- the tokenizer --------------------------------------------------------------------


@pytest.mark.parametrize("around", ["{}", "+4s ERROR {}: late", "team: {}, other", '"{}"}}'])
def test_an_answer_is_one_token_where_it_is_read_and_where_it_is_said(
    tokenizer: Any, around: str
) -> None:
    for word in answer_words():
        (own,) = tokenizer.encode(word)
        assert own in tokenizer.encode(around.format(word))


def test_a_word_within_a_word_is_no_answer(tokenizer: Any) -> None:
    (own,) = tokenizer.encode("all")
    assert own not in tokenizer.encode("3 failed calls")


@pytest.mark.parametrize("text", ["p99 1657 ms", "ünïcödé 漢字 \x00\t", "9" * 50, "<|user", ""])
def test_any_text_comes_back(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_hundreds_stand_apart_from_thousands(tokenizer: Any) -> None:
    read = [tokenizer.decode([one]) for one in tokenizer.encode("p99 12657 ms")]
    assert "".join(read) == "p99 12657 ms"
    assert not any("2" in one and "6" in one for one in read)


def test_its_template_can_be_continued_and_read_back(tokenizer: Any) -> None:
    assert is_chat_template_prefix_preserving(tokenizer)
    before = tokenizer.encode(ASSISTANT)
    incident = lt.make_incident(ID)
    for action in play_episode(incident, make_policy("expert")(incident)).actions:
        name, arguments = call_from_action(action)
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
        ids = tokenizer.apply_chat_template([message], return_dict=False)
        assert parse_response(tokenizer, ids[len(before) :], prefix=before) == message


def test_rules_and_tools_cost_nothing(tokenizer: Any, said: list[list[dict[str, Any]]]) -> None:
    user = said[0][1]
    shown = tokenizer.apply_chat_template(said[0][:2], tokenize=False, tools=[])
    assert shown == f"<|user|>{user['content']}<|end|>"


# -- demonstrations -------------------------------------------------------------------


def test_demonstrations_are_of_train_and_of_every_task() -> None:
    ids = demonstration_ids(10, PLAIN.tasks, Source())
    assert len(set(ids)) == 10
    assert {one.split("/")[0] for one in ids} == set(CLEAR.split())
    assert {one.split("/")[1] for one in ids} == {"train"}


def test_the_first_demonstrations_can_be_skipped() -> None:
    ids = demonstration_ids(10, PLAIN.tasks, Source())
    assert demonstration_ids(6, PLAIN.tasks, Source(), skip=4) == ids[4:]


def test_a_demonstration_is_what_the_environment_of_training_says() -> None:
    settings = Settings(slips=300, shy=300, seed=5)
    first, *rest = demonstration(lt.make_incident(ID), settings)[1:]
    env = TriageEnv()
    assert env.reset(incident=ID, prompt=[{"role": "system", "content": ""}]) == first["content"]
    for called, answered in zip(rest[:-1:2], rest[1::2], strict=True):
        (call,) = called["tool_calls"]
        told = getattr(env, call["function"]["name"])(**call["function"]["arguments"])
        assert told == answered["content"]
    assert rest[-1] == {"role": "assistant", "content": ""}
    assert "closed" in rest[-2]["content"]


@pytest.mark.parametrize("teacher", TEACHERS)
def test_without_slips_the_teacher_is_heard_and_slips_are_the_seeds(teacher: str) -> None:
    incident = lt.make_incident(ID)
    actions = play_episode(incident, make_policy(teacher)(incident)).actions
    said = demonstration(incident, attrs.evolve(PLAIN, teacher=teacher))
    *wires, done = actions_of_conversation(said, incident.topology)
    assert done["action_type"] == "malformed"  # the empty reply after the closing action
    kept = [
        {k: v for k, v in action_to_wire(one).items() if k != "confidence"}
        for one in cause_first(actions)
    ]
    assert wires == kept
    slipped = Settings(slips=500, shy=0, seed=1, teacher=teacher)
    assert demonstration(incident, slipped) == demonstration(incident, slipped)
    assert demonstration(incident, slipped) != demonstration(
        incident, attrs.evolve(slipped, seed=2)
    )


def test_a_page_never_slips() -> None:
    """At a teacher who slips in every other action, each page is still the one it meant."""
    settings = Settings(slips=1000, shy=0, teacher="observer")
    pages = 0
    for one in demonstration_ids(5, ["single_crash-v2-fog0"], Source()):
        state = None
        incident = lt.make_incident(one)
        for action in demonstrated(incident, settings):
            before = state or lt.initial_state(incident)
            if isinstance(action, Escalate):
                assert action == ObserverPolicy(incident)._decide(before)
                pages += 1
            state = lt.transition(before, action)
    assert pages > 1


def test_the_cause_is_named_before_its_owner_is_paged_and_the_grade_is_the_same() -> None:
    moved = 0
    for one in demonstration_ids(12, PLAIN.tasks, Source()):
        incident = lt.make_incident(one)
        taught = play_episode(incident, make_policy("observer")(incident)).actions
        said = demonstrated(incident, PLAIN)
        names = [type(action) for action in said]
        assert Counter(said) == Counter(taught)
        assert grade_actions(incident, said).score == grade_actions(incident, taught).score
        if Escalate in names and IdentifyRootCause in names:
            assert names.index(IdentifyRootCause) < names.index(Escalate)
            moved += said != tuple(taught)
    assert moved > 1


def test_a_page_that_something_else_follows_stays_where_it_is() -> None:
    page, look = Escalate("dba-team"), RequestMoreLogs("user-db")
    cause, fix = IdentifyRootCause("user-db"), Remediate(Remedy.RESTART, "user-db")
    for one in ((page, look, cause), (page, fix, cause), (cause, page), (page,)):
        assert cause_first(one) == one
    severity = ClassifySeverity(Severity.P1)
    assert cause_first((look, page, severity, cause, fix)) == (look, severity, cause, page, fix)


def test_from_a_shy_demonstration_the_pages_are_left_out_and_nothing_else() -> None:
    bold = demonstrated(lt.make_incident(ID), PLAIN)
    shy = demonstrated(lt.make_incident(ID), attrs.evolve(PLAIN, shy=1000))
    assert any(isinstance(one, Escalate) for one in bold)
    assert shy == tuple(one for one in bold if not isinstance(one, Escalate))


# -- drills ---------------------------------------------------------------------------


def test_a_drill_asks_for_the_owner_and_for_the_service_and_marks_both(tokenizer: Any) -> None:
    incident = lt.make_incident(ID)
    owners = dict(zip(incident.topology.names, incident.directory, strict=True))
    row = drill(tokenizer, incident, Stream(3, 4))
    asked = [place for place, one in enumerate(row.asked) if one]
    assert len(asked) == 2 * ROUNDS
    causes = set()
    for owner, repaired in zip(asked[::2], asked[1::2], strict=True):
        cause = tokenizer.decode([row.ids[repaired]])
        assert tokenizer.decode([row.ids[owner]]) == owners[cause]
        assert row.read[owner - 1] == row.read[repaired - 1] == row.ids[repaired]
        # The cause stands before its owner, in the call that names it and on the screen.
        assert row.ids[:owner].count(row.ids[repaired]) >= 3
        causes.add(cause)
    assert len(causes) > 1


def test_in_a_drill_each_service_of_the_directory_reads_its_team(tokenizer: Any) -> None:
    incident = lt.make_incident(ID)
    row = drill(tokenizer, incident, Stream(3, 4))
    told = {
        tokenizer.decode([token]): tokenizer.decode([read])
        for token, read in zip(row.ids, row.read, strict=True)
        if read != NOTHING and tokenizer.decode([token]) in incident.topology.names
    }
    assert told == dict(zip(incident.topology.names, incident.directory, strict=True))


def test_elsewhere_nothing_is_read_and_drills_are_refused(tokenizer: Any) -> None:
    incident = lt.make_incident("fleet_outage-v2/train/0")
    assert incident.topology != FIVE_TEAMS
    with pytest.raises(InvalidInput, match="default topology"):
        drill(tokenizer, incident, Stream(3, 4))
    nothing = torch.full((1, 5), NOTHING)
    model = build_model(tokenizer, Size(32, 2, 2), 0)
    assert read_loss(model, torch.zeros(1, 5, 32), nothing) == 0


def test_a_drill_of_whole_screens_asks_the_same(tokenizer: Any) -> None:
    incident = lt.make_incident(ID)
    short, whole = (drill(tokenizer, incident, Stream(3, 4), one) for one in (False, True))
    answers = [
        [token for token, asked in zip(row.ids, row.asked, strict=True) if asked]
        for row in (short, whole)
    ]
    assert answers[0] == answers[1]
    assert len(whole.ids) > 3 * len(short.ids)
    assert "LOGS:" in tokenizer.decode(whole.ids)
    assert "LOGS:" not in tokenizer.decode(short.ids)


def test_drills_are_rehearsed_among_the_demonstrations(
    tokenizer: Any, said: list[list[dict[str, Any]]]
) -> None:
    ids = demonstration_ids(6, SMALL.tasks, Source())
    assert rehearsed(tokenizer, Source(), ids, SMALL) == []
    drills = rehearsed(tokenizer, Source(), ids, attrs.evolve(SMALL, whole_drills=1))
    assert len(drills) == 3
    rows = labelled(tokenizer, said[:1], drills)
    assert len(rows) == 4
    for row, one in zip(rows.select(range(1, 4)), drills, strict=True):
        learnt = [token for token in row["labels"] if token != IGNORED]
        assert learnt == [t for t, asked in zip(one.ids, one.asked, strict=True) if asked]


def test_in_an_episode_too_the_cause_is_read_before_its_owner_and_its_remedy(
    tokenizer: Any,
) -> None:
    incident = lt.make_incident("single_crash-v2-fog0/train/0")
    said = demonstration(incident, attrs.evolve(PLAIN, teacher="expert"))
    row = labelled(tokenizer, [said])[0]
    spoken = [one != IGNORED for one in row["labels"]]
    assert row["read"] == readings(tokenizer, row["input_ids"], spoken)
    told = [
        (tokenizer.decode([row["input_ids"][place + 1]]), tokenizer.decode([read]))
        for place, read in enumerate(row["read"][:-1])
        if read != NOTHING and spoken[place + 1]
    ]
    cause = "email-queue"  # it asks for its metrics, names it, pages and repairs it
    assert told == [(cause, cause), (cause, cause), ("sre-team", cause), (cause, cause)]


def course(tokenizer: Any, steps: int, seed: int = 0) -> list[float]:
    settings = attrs.evolve(SMALL, drills=steps, seed=seed)
    ids = demonstration_ids(6, settings.tasks, Source())
    model = build_model(tokenizer, Size(64, 2, 2), 0)
    return drilled(model, tokenizer, Source(), ids, settings, Phases(Console(quiet=True)))


def test_drills_are_learnt(tokenizer: Any) -> None:
    """At first no answer is right; after thirty steps a team or a service is said, and some are."""
    right = course(tokenizer, 30)
    assert len(right) == 30
    assert sum(right[:5]) / 5 < 0.05
    assert sum(right[-5:]) / 5 > 0.15


def test_drills_are_the_seeds_and_without_any_nothing_is_done(tokenizer: Any) -> None:
    ids, settings = demonstration_ids(1, SMALL.tasks, Source()), attrs.evolve(SMALL, drills=2)
    models = [build_model(tokenizer, Size(32, 2, 2), 0) for _ in range(4)]
    for model, one in zip(
        models[1:], (settings, settings, attrs.evolve(settings, seed=1)), strict=True
    ):
        drilled(model, tokenizer, Source(), ids, one, Phases(Console(quiet=True)))
    new, first, again, other = (model.model.embed_tokens.weight for model in models)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first, new)
    assert drilled(models[0], tokenizer, Source(), ids, SMALL, Phases(Console(quiet=True))) == []


def test_a_name_attends_to_the_same_name_from_the_start(tokenizer: Any) -> None:
    first, *above = build_model(tokenizer, Size(64, 3, 2), 0).model.layers
    for layer in above:
        assert torch.equal(layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight)
    assert not torch.equal(first.self_attn.q_proj.weight, first.self_attn.k_proj.weight)


# -- the warm start -------------------------------------------------------------------


def test_only_what_the_assistant_said_is_learnt(
    tokenizer: Any, said: list[list[dict[str, Any]]]
) -> None:
    row = labelled(tokenizer, said[:1])[0]
    learnt = [one for one in row["labels"] if one != IGNORED]
    calls = [message for message in said[0] if message["role"] == "assistant"]
    text = tokenizer.apply_chat_template(calls, tokenize=False).replace(ASSISTANT, "")
    assert tokenizer.decode(learnt) == text
    assert len(row["labels"]) == len(row["input_ids"])


SMALL = Settings(
    task="single_crash-v2-fog0", size="nano", vocab=1024, episodes=6, batch=3, epochs=10, lr=6e-3
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "nano"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(building.SIZES, "nano", Size(32, 2, 2))
        building.build(SMALL, out, "the command")
    return out


def test_what_is_built_is_a_model_like_any_other(built: Path) -> None:
    tokenizer, model = load_tokenizer(str(built)), load_model(str(built))
    assert tokenizer.pad_token == PAD
    assert tokenizer.response_template
    played = held_out(model, tokenizer, "single_crash-v2-fog0", 2, max_new_tokens=4)
    assert all(one.score is not None for one in played.grades)
    about = json.loads((built / building.ABOUT).read_text())
    assert about["command"] == "the command"
    assert about["settings"]["seed"] == 0
    assert about["parameters"] == sum(one.numel() for one in model.parameters())
    assert [one.name for one in built.parent.iterdir()] == [built.name]  # no left-overs


def test_it_learns(built: Path) -> None:
    """Far below the loss of one who guesses evenly, within three dozen steps."""
    about = json.loads((built / building.ABOUT).read_text())
    even = torch.log(torch.tensor(about["vocabulary"])).item()
    assert about["losses"][0] > 0.9 * even
    assert about["losses"][-1] < 0.75 * even


def test_a_model_can_be_taught_more(built: Path, tmp_path: Path) -> None:
    more = attrs.evolve(SMALL, start=str(built), skip=6, episodes=3, epochs=1)
    building.build(more, tmp_path / "more", "")
    about = json.loads((built / building.ABOUT).read_text())
    again = json.loads((tmp_path / "more" / building.ABOUT).read_text())
    assert again["losses"][0] < (about["losses"][0] + about["losses"][-1]) / 2
    old, new = (load_tokenizer(str(one)).get_vocab() for one in (built, tmp_path / "more"))
    assert old == new


def test_a_model_that_is_not_there_is_refused_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "demonstration_ids", None)
    with pytest.raises(InvalidInput, match="nowhere"):
        building.build(attrs.evolve(SMALL, start="./nowhere"), tmp_path / "out", "")


def test_a_directory_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(SystemExit):
        main(["--output-dir", str(tmp_path), "--episodes", "3"])
    assert "not an empty directory" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("stop")

    monkeypatch.setattr(building, "warm_start", fails)
    with pytest.raises(RuntimeError, match="stop"):
        building.build(SMALL, tmp_path / "out", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--slips", "1001"),
        ("--size", "huge"),
        ("--lr", "0"),
        ("--drills", "-1"),
        ("--whole-drills", "-1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--output-dir", str(tmp_path / "out"), option, value])
    assert option.strip("-") in capsys.readouterr().err
