"""The small model from nothing: its tokenizer, its demonstrations, its warm start."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from rich.console import Console
from trl.chat_template_utils import is_chat_template_prefix_preserving, parse_response

import logtriage as lt
from logtriage.actions import Escalate, RequestMoreLogs
from logtriage.adapters.trl import TriageEnv
from logtriage.conversations.tools import call_from_action
from logtriage.conversations.wires import actions_of_conversation
from logtriage.errors import InvalidInput
from logtriage.observation import observe
from logtriage.parsing import action_to_wire
from logtriage.policies.notebook import Notebook, write_down
from logtriage.rng import Stream
from logtriage.world.loading import load_world
from tests.builders import FIVE_TEAMS
from training.evaluate import held_out
from training.evaluate.phases import Phases
from training.language.loading import load_model, load_tokenizer
from training.language.sources import Source
from training.tiny import build as building
from training.tiny.__main__ import main
from training.tiny.demonstrations import (
    TEACHER,
    demonstration,
    demonstration_ids,
    turns,
    without_logs,
)
from training.tiny.drills import ROUNDS, drill, drilled, rehearsed
from training.tiny.model import build_model
from training.tiny.notes import EASED, SUSPECT, note, note_words
from training.tiny.reading import NOTHING, read_loss, readings
from training.tiny.rows import IGNORED, rows_of
from training.tiny.settings import CLEAR, Settings, Size
from training.tiny.tokenizer import ASSISTANT, CALL, CALLED, PAD, answer_words, build_tokenizer

ID = "cascading_failure-v3-fog0/train/42"
#: Some of its services alert and some do not, some changed and some did not.
ALARMED = "single_crash-v3-fog0/train/3"
PLAIN = Settings(slips=0, reworded=0)


@pytest.fixture(scope="module")
def said() -> list[list[dict[str, Any]]]:
    settings = Settings(slips=200)
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


def test_a_word_of_a_note_is_one_token(tokenizer: Any) -> None:
    for word in set(note_words()) - set(answer_words()):
        assert len(tokenizer.encode(f" {word}")) == 1, word
    assert len(tokenizer.encode("P2 cpu usual high memory usual")) == 6


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
    for turn in turns(lt.make_incident(ID), PLAIN):
        name, arguments = call_from_action(turn.action)
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        message = {"role": "assistant", "content": turn.note, "tool_calls": [call]}
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
    settings = Settings(slips=300, reworded=0, seed=5)
    first, *rest = demonstration(lt.make_incident(ID), settings)[1:]
    env = TriageEnv()
    assert env.reset(incident=ID, prompt=[{"role": "system", "content": ""}]) == first["content"]
    for called, answered in zip(rest[:-1:2], rest[1::2], strict=True):
        (call,) = called["tool_calls"]
        told = getattr(env, call["function"]["name"])(**call["function"]["arguments"])
        assert told == answered["content"]
    assert rest[-1] == {"role": "assistant", "content": ""}
    assert "closed" in rest[-2]["content"]


def test_without_slips_the_teacher_is_heard_and_slips_are_the_seeds() -> None:
    incident = lt.make_incident(ID)
    said = demonstration(incident, PLAIN)
    *wires, done = actions_of_conversation(said, incident.topology)
    assert done["action_type"] == "malformed"  # the empty reply after the closing action
    state, book = lt.initial_state(incident), None
    for wire in wires:
        action, book = TEACHER.act(without_logs(observe(state)), book)
        assert action_to_wire(action) == wire
        state = lt.transition(state, action)
    assert state.is_closed
    assert not any("unlearnt" in one for one in said)
    slipped = Settings(slips=500, seed=1)
    assert demonstration(incident, slipped) == demonstration(incident, slipped)
    assert demonstration(incident, slipped) != demonstration(
        incident, attrs.evolve(slipped, seed=2)
    )


def test_a_page_never_slips_and_slips_are_marked() -> None:
    pages = slips = 0
    for one in demonstration_ids(5, ["single_crash-v3-fog0"], Source()):
        played = turns(lt.make_incident(one), Settings(slips=500))
        pages += sum(isinstance(turn.action, Escalate) for turn in played)
        assert all(turn.meant for turn in played if isinstance(turn.action, Escalate))
        slips += sum(not turn.meant for turn in played)
    assert pages > 1
    assert slips > 3


def test_the_teacher_reads_no_log_line() -> None:
    """The same screens with other tokens behind their lines give the same notes and actions."""
    incident = lt.make_incident(ID)
    observation = observe(lt.transition(lt.initial_state(incident), RequestMoreLogs("user-db")))
    assert observation.inspection
    shown = [
        attrs.evolve(
            observation,
            window=tuple(attrs.evolve(line, token=token) for line in observation.window),
            inspection=tuple(attrs.evolve(line, token=token) for line in observation.inspection),
        )
        for token in ("everyday", "slow_reads")
    ]
    assert without_logs(shown[0]) == without_logs(shown[1])
    assert write_down(without_logs(shown[0]), Notebook()).lines == ()
    for one in demonstration_ids(8, PLAIN.tasks, Source()):
        played = turns(lt.make_incident(one), Settings(slips=300))
        assert not any(isinstance(turn.action, RequestMoreLogs) for turn in played)


def test_in_some_demonstrations_the_words_of_log_lines_change_places_and_nothing_else() -> None:
    incident = lt.make_incident(ID)
    plain, other = (demonstration(incident, attrs.evolve(PLAIN, reworded=n)) for n in (0, 1000))
    assert demonstration(incident, attrs.evolve(PLAIN, reworded=1000)) == other
    changed = 0
    for one, two in zip(plain, other, strict=True):
        if one["role"] not in ("user", "tool"):
            assert one == two
            continue
        pairs = list(zip(one["content"].splitlines(), two["content"].splitlines(), strict=True))
        for line, line_two in pairs:
            if line != line_two:
                assert line.split(": ")[0] == line_two.split(": ")[0]
                assert line[0] in "+-"
                changed += 1
        assert sorted(one["content"].split()) == sorted(two["content"].split())
    assert changed > 10


def test_a_note_that_goes_astray_names_another_suspect_and_the_rest_stays() -> None:
    incident = lt.make_incident(ID)
    plain, astray = turns(incident, PLAIN), turns(incident, attrs.evolve(PLAIN, astray=600))
    assert [one.action for one in astray] == [one.action for one in plain]
    assert all(one.sound for one in plain)
    wrong = 0
    for one, other in zip(plain, astray, strict=True):
        assert other.sound == (other.note == one.note)
        assert other.note.split(SUSPECT)[0] == one.note.split(SUSPECT)[0]
        wrong += not other.sound
    assert 1 < wrong < len(plain)


# -- notes ----------------------------------------------------------------------------


def test_a_note_says_what_the_screen_shows_and_what_follows_from_it() -> None:
    first, *rest = (
        one.note for one in turns(lt.make_incident("single_crash-v3-fog0/train/0"), PLAIN)
    )
    assert first == (
        "P2 suspect email-queue of backend-team latency traffic_before saturation sre-team "
        "scale torn"
    )
    assert rest[2] == (
        "P2 cpu usual high memory usual usual workers full full traffic more more tier backlog "
        "backlog suspect email-queue of backend-team latency traffic_before saturation sre-team "
        "scale likely"
    )
    assert rest[-1] == f"P2 {EASED}"


@pytest.mark.parametrize("task", [*PLAIN.tasks, "compound_failure-v3"])
def test_a_note_has_no_other_words_and_names_what_is_done(task: str) -> None:
    known = {*note_words(), *FIVE_TEAMS.names, *FIVE_TEAMS.teams, *answer_words()}
    paged = 0
    for one in demonstration_ids(6, [task], Source()):
        for turn in turns(lt.make_incident(one), PLAIN):
            words = turn.note.split()
            assert set(words) <= known
            assert words[0] in load_world("oncall").bands
            if isinstance(turn.action, Escalate):
                assert turn.action.team == words[-3]
                paged += 1
    assert paged > 1


def test_an_incident_of_which_nothing_is_suspected_has_a_note_too() -> None:
    observation = attrs.evolve(
        without_logs(observe(lt.initial_state(lt.make_incident(ID)))), pages=("dba-team",)
    )
    book = attrs.evolve(write_down(observation, Notebook()), noted="no service")
    assert note(observation, book).split()[1:] == ["nobody"]


# -- drills ---------------------------------------------------------------------------


def test_a_drill_asks_what_is_read_and_what_is_known_and_not_who_is_suspected(
    tokenizer: Any,
) -> None:
    incident = lt.make_incident(ALARMED)
    row = drill(tokenizer, incident, Stream(3, 4))
    words = [tokenizer.decode([token]).strip() for token in row.ids]
    notes = tokenizer.decode([t for t, one in zip(row.ids, row.asked, strict=True) if one])
    assert CALL not in notes
    owners = dict(zip(incident.topology.names, incident.directory, strict=True))
    alerts = {one.service for one in observe(lt.initial_state(incident)).alerts}
    changes = {one.service: one.token for one in observe(lt.initial_state(incident)).changes}
    suspects = set()
    for place, word in enumerate(words):
        if word != SUSPECT:
            continue
        suspect, (owner, alert, change) = words[place + 2], words[place + 5 : place + 8]
        assert row.asked[place : place + 8] == [True, False, False, True, True, True, True, True]
        assert owner == owners[suspect]
        assert (alert == "none") == (suspect not in alerts)
        assert change == changes.get(suspect, "unchanged")
        suspects.add(suspect)
    assert len(suspects) > 2
    assert words.count(SUSPECT) == ROUNDS + 1
    assert " cpu " in notes or " time " in notes


def test_in_a_drill_services_read_their_team_and_their_alert(tokenizer: Any) -> None:
    incident = lt.make_incident(ALARMED)
    row = drill(tokenizer, incident, Stream(3, 4))
    told = [
        (tokenizer.decode([token]), tokenizer.decode([read]).strip())
        for token, read in zip(row.ids, row.read, strict=True)
        if read != NOTHING and tokenizer.decode([token]) in incident.topology.names
    ]
    owners = set(zip(incident.topology.names, incident.directory, strict=True))
    short = {"HighLatency": "latency", "HighErrorRate": "errors"}
    alerts = {(one.service, short[one.name]) for one in observe(lt.initial_state(incident)).alerts}
    assert alerts
    assert set(told) == owners | alerts


def test_elsewhere_nothing_is_read_and_drills_are_refused(tokenizer: Any) -> None:
    incident = lt.make_incident("fleet_outage-v3/train/0")
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
    assert len(whole.ids) > 1.3 * len(short.ids)
    assert "LOGS:" in tokenizer.decode(whole.ids)
    assert "LOGS:" not in tokenizer.decode(short.ids)
    assert "METRICS" in tokenizer.decode(short.ids) + tokenizer.decode(whole.ids)


def test_drills_are_rehearsed_among_the_demonstrations(
    tokenizer: Any, said: list[list[dict[str, Any]]]
) -> None:
    ids = demonstration_ids(6, SMALL.tasks, Source())
    assert rehearsed(tokenizer, Source(), ids, SMALL) == []
    drills = rehearsed(tokenizer, Source(), ids, attrs.evolve(SMALL, whole_drills=1))
    assert len(drills) == 6
    rows = rows_of(tokenizer, 0.1, said[:1], drills)
    assert len(rows) == 7
    for row, one in zip(rows.select(range(1, 7)), drills, strict=True):
        learnt = [token for token in row["labels"] if token != IGNORED]
        asked = [token for token, right in zip(one.ids, one.asked, strict=True) if right]
        assert learnt[: len(asked)] == asked
        replies = tokenizer.apply_chat_template(list(one.replies), tokenize=False)
        assert tokenizer.decode(learnt[len(asked) :]) == replies.replace(ASSISTANT, "")


def test_in_an_episode_too_the_suspect_is_read_before_what_is_known_of_it(tokenizer: Any) -> None:
    said = demonstration(lt.make_incident("single_crash-v3-fog0/train/0"), PLAIN)
    row = rows_of(tokenizer, 0.1, [said[:3]])[0]
    spoken = [one != IGNORED for one in row["labels"]]
    assert row["read"] == readings(tokenizer, row["input_ids"], spoken)
    told = [
        (tokenizer.decode([row["input_ids"][place + 1]]).strip(), tokenizer.decode([read]))
        for place, read in enumerate(row["read"][:-1])
        if read != NOTHING and spoken[place + 1]
    ]
    suspect = "email-queue"  # its owner, alert, change and team; the call is for another service
    known = ["backend-team", "latency", "traffic_before", "sre-team"]
    assert told == [(word, suspect) for word in known]


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


def test_only_what_the_assistant_said_is_learnt(tokenizer: Any) -> None:
    said = [demonstration(lt.make_incident(ID), PLAIN)]
    row = rows_of(tokenizer, 0.1, said[:1])[0]
    learnt = [one for one in row["labels"] if one != IGNORED]
    calls = [message for message in said[0] if message["role"] == "assistant"]
    text = tokenizer.apply_chat_template(calls, tokenize=False).replace(ASSISTANT, "")
    assert tokenizer.decode(learnt) == text
    assert len(row["labels"]) == len(row["input_ids"])


@pytest.mark.parametrize(
    ("settings", "mark", "start"),
    [
        (Settings(slips=1000), "call", CALL),
        (Settings(slips=0, astray=500), "suspect", f" {SUSPECT}"),
    ],
)
def test_what_the_teacher_would_not_have_said_is_not_learnt(
    tokenizer: Any, settings: Settings, mark: str, start: str
) -> None:
    said = demonstration(lt.make_incident(ID), settings)
    spoken = [message for message in said if message["role"] == "assistant"]
    marks = [one.get("unlearnt") for one in spoken]
    assert 1 < marks.count(mark) < len(spoken)
    assert set(marks) == {mark, None}
    learnt = [one for one in rows_of(tokenizer, 0.1, [said])[0]["labels"] if one != IGNORED]
    texts = [
        tokenizer.apply_chat_template([one], tokenize=False).removeprefix(ASSISTANT)
        for one in spoken
    ]
    kept = [text.split(start)[0] if one else text for one, text in zip(marks, texts, strict=True)]
    assert tokenizer.decode(learnt) == "".join(kept)
    assert CALLED in tokenizer.decode(learnt)


SMALL = Settings(
    task="single_crash-v3-fog0", size="nano", vocab=1024, episodes=6, batch=3, epochs=10, lr=6e-3
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
    played = held_out(model, tokenizer, "single_crash-v3-fog0", 2, max_new_tokens=4)
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
        ("--astray", "1001"),
        ("--reworded", "-1"),
        ("--size", "huge"),
        ("--lr", "0"),
        ("--drills", "-1"),
        ("--episodes", "0"),
        ("--rounds", "-1"),
        ("--own-play", "0"),
        ("--own-temperature", "-0.1"),
        ("--whole-drills", "-1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--output-dir", str(tmp_path / "out"), option, value])
    assert option.strip("-") in capsys.readouterr().err
