"""Figures, tables, the model card and the command line."""

import json
from pathlib import Path

import attrs
import pytest

from logtriage import make_incident
from logtriage.drawing.ids import incident_ids
from logtriage.errors import InvalidInput
from logtriage.evaluation import SOLVED, played_state
from logtriage.evaluation.net_values import net_value_of
from logtriage.grading import grade_jsonl
from logtriage.transcript import Transcript
from tests.adapters.trl.tiny import tiny_model, tiny_tokenizer
from training.evaluate import Evaluation, card, compare, held_out, markdown, scripted
from training.evaluate.__main__ import main
from training.evaluate.figures import first_last
from training.evaluate.settings import Settings
from training.grpo.settings import Settings as Training

TASKS = ["single_crash-v3-fog0", "silent_degradation-v3-fog0"]
ONE, OTHER = TASKS
FOUR = incident_ids(ONE, "test", 4)


def test_before_and_after_are_compared_incident_by_incident() -> None:
    before, after = scripted("random", TASKS, 12), scripted("expert", TASKS, 12)
    content = compare(before, after, [scripted("first_error", TASKS, 12)])
    assert json.loads(json.dumps(content)) == content
    change = content["difference"][ONE]
    assert change["incidents"] == 12
    assert change["difference"]["mean"] == pytest.approx(change["after"] - change["before"])
    assert 0 < change["difference"]["low"] <= change["difference"]["high"]
    assert change["better"] + change["same"] + change["worse"] == 12
    assert content["difference"]["all tasks"]["incidents"] == 24
    expert = content["agents"][1]
    one = expert["tasks"][ONE]
    assert one["solved"] > 0.5
    assert one["paged_right"] + one["mis_page"] >= one["paged"] > 0
    assert sum(price["incidents"] for price in one["by_price"]) == 12
    for share in ("paged", "handed_over"):
        summed = sum(price[share] * price["episodes"] for price in one["by_price"])
        assert summed == pytest.approx(12 * one[share])
    silent = expert["tasks"][OTHER]
    assert sum(one["incidents"] for one in silent["by_fault"].values()) == 12
    assert sum(one["incidents"] for one in silent["by_hops"].values()) == 12
    assert "benign" in silent["by_hops"]
    assert content["agents"][0]["all"]["mis_page"] > 0
    table = markdown(content)
    assert "expert minus random" in table
    head = next(line for line in table.splitlines() if line.startswith("| task | agent"))
    names = [name.strip() for name in head.split("|")[4:8]]
    assert names == ["net value", "solved", "handed over", "paged right"]
    assert "### By the price of a hand-over" in table
    assert f"{change['difference']['mean']:+.3f}" in table
    with pytest.raises(InvalidInput, match="did not play the same incidents"):
        compare(before, scripted("expert", TASKS, 11))


def test_net_value_is_that_of_evaluations_and_exactly_zero_for_handing_over() -> None:
    expert, always = scripted("expert", TASKS, 12), scripted("constant:hand_over", TASKS, 12)
    content = compare(None, expert, [always])
    first, baseline = (agent["all"] for agent in content["agents"])
    states = [played_state(make_incident(one.incident), one) for one in expert.grades]
    scores = [one.score for one in expert.grades if one.score is not None]
    told = net_value_of(zip(states, scores, strict=True))
    assert told is not None
    assert first["net"] == pytest.approx(attrs.asdict(told.net))
    assert first["handed_over"] == pytest.approx(told.handed_over)
    for row, at in zip(first["by_price"], told.by_price, strict=True):
        assert (row["price"], row["incidents"]) == (at.price, at.incidents)
        assert row["net"] == pytest.approx(attrs.asdict(at.net))
        assert row["handed_over"] == pytest.approx(at.handed_over)
    assert baseline["net"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert baseline["handed_over"] == 1.0


def attempted(actions: list[list[str]], status: str = "completed") -> Evaluation:
    """Four incidents; in each inner list, how many of two attempts were the oracle's."""
    best = scripted("oracle", ONE, 4).transcripts
    found = []
    for one, tries in zip(best, actions, strict=True):
        for word in tries:
            wires = one.actions if word == "right" else [{"action_type": "resolve"}]
            state = "the server died" if word == "failed" else status
            found.append(Transcript(one.incident, () if word == "failed" else wires, state, "m"))
    return Evaluation("m", "test", 2, found)


def test_repeated_attempts_and_failures() -> None:
    both, one, none = ["right", "right"], ["right", "wrong"], ["wrong", "wrong"]
    content = compare(None, attempted([both, one, none, ["right", "failed"]]))
    found = content["agents"][0]["tasks"][ONE]
    assert (found["episodes"], found["incidents"], found["unscored"]) == (8, 4, 1)
    (cause,) = found["causes"]
    assert "the server died" in cause
    assert found["grade"]["mean"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert found["bound"] == pytest.approx((1 + 0.5 + 0 + 0.5) / 4)
    assert "1 (as 0: 0.500)" in markdown(content)
    # The incident with an unscored attempt is left out: 3 incidents, 2, 1 and 0 of 2 passed.
    assert found["pass_at_k"]["1"]["mean"] == pytest.approx(0.5)
    assert found["pass_at_k"]["2"]["mean"] == pytest.approx(2 / 3)
    assert found["pass_hat_k"]["2"]["mean"] == pytest.approx(1 / 3)
    assert found["solved"] == pytest.approx(4 / 7)
    assert SOLVED <= 1.0
    table = markdown(content)
    assert "pass^k" in table
    assert "the server died" in table


def test_first_and_last_ten_training_episodes() -> None:
    found = first_last([0.0] * 10 + [0.3] * 5 + [1.0] * 10)
    assert (found["first"], found["last"], found["episodes"]) == (0.0, 1.0, 25)
    with pytest.raises(InvalidInput, match="no training episodes"):
        first_last([])
    expert = scripted("expert", ONE, 2)
    content = compare(None, expert, training_scores=[0.25, 0.75])
    assert "0.500" in markdown(content)


def test_the_model_card_has_front_matter_data_results_and_limits() -> None:
    yaml = pytest.importorskip("yaml")
    content = compare(scripted("random", TASKS, 5), scripted("expert", TASKS, 5))
    text = card(
        content,
        name="team/triage",
        base_model="/home/somebody/models/tiny-start",
        data="Split `train`.",
        settings={"learning_rate": 2e-4},
        limits=["One seed."],
    )
    _, front, body = text.split("---\n", 2)
    meta = yaml.safe_load(front)
    assert meta["library_name"] == "transformers"
    assert "base_model" not in meta
    values = [one["metrics"][0]["value"] for one in meta["model-index"][0]["results"]]
    mean = content["agents"][1]["tasks"][TASKS[0]]["grade"]["mean"]
    assert values[0] == pytest.approx(mean, abs=1e-4)
    assert "`tiny-start`" in body
    assert "/home" not in text
    for words in ("## Data", "| `learning_rate` | `0.0002` |", "expert minus random", "One seed."):
        assert words in body
    hub = card(content, name="x", base_model="Qwen/Qwen2.5-3B-Instruct", data="", settings={})
    assert yaml.safe_load(hub.split("---\n")[1])["base_model"] == "Qwen/Qwen2.5-3B-Instruct"


def test_the_command_measures_a_scripted_policy_and_leaves_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ["--policy", "expert", "--task", ONE, "--episodes", "4"]
    assert main([*given, "--baselines", "random", "--output-dir", str(out)]) == 0
    content = json.loads((out / "results.json").read_text("utf-8"))
    assert [one["agent"] for one in content["agents"]] == ["expert", "random"]
    grades = list(grade_jsonl(out / "transcripts" / "expert.jsonl"))
    assert tuple(one.incident for one in grades) == FOUR
    mean = sum(one.score or 0.0 for one in grades) / 4
    assert content["agents"][0]["all"]["grade"]["mean"] == pytest.approx(mean)
    assert "mean grade" in (out / "results.md").read_text("utf-8")


def test_the_command_measures_a_team(tmp_path: Path) -> None:
    given = ["--policy", "expert", "--task", ONE, "--episodes", "2"]
    roles = ["--split-roles", "trio", "--baselines", "", "--output-dir", str(tmp_path)]
    assert main([*given, *roles]) == 0
    line = (tmp_path / "transcripts" / "expert.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(line)["role_split"] == "trio"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "nobody"], "unknown policy 'nobody'"),
        (["--policy", "expert", "--task", "none"], "unknown task 'none'"),
        (["--policy", "hf:./not/there"], "no such directory"),
        (["--policy", "nobody", "--before", "random"], "unknown policy 'nobody'"),
        (["--policy", "expert", "--before", "hf:./not/there"], "no such directory"),
        (["--policy", "expert", "--baselines", "random exprt"], "unknown policy 'exprt'"),
        (["--policy", "expert", "--split-roles", "duo"], "unknown team 'first_error'"),
        (["--policy", "hf:MODEL", "--task", "none"], "unknown task 'none'"),
        (["--policy", "hf:MODEL", "--max-new-tokens", "-1"], "max_new_tokens at least 1"),
        (["--policy", "hf:MODEL", "--samples", "2"], "2 samples at temperature 0"),
        (["--policy", "expert", "--split-roles", "none"], "unknown role split 'none'"),
        (["--policy", "hf:./x", "--team", "triage=model"], "expected split_roles"),
        (
            ["--policy", "expert", "--split-roles", "duo", "--team", "diagnosis=model"],
            "a scripted team is itself a policy",
        ),
        (
            ["--policy", "hf:./x", "--split-roles", "duo", "--team", "diagnosis=model"],
            "action",
        ),
        (
            ["--policy", "hf:./x", "--split-roles", "duo", "--team", "expert"],
            "expected ROLE=model for at least one role",
        ),
    ],
)
def test_what_cannot_be_measured_is_named(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once: no model is loaded, of which there are no weights here, and nobody plays."""
    model, out = tmp_path / "model", tmp_path / "out"
    model.mkdir()
    (model / "config.json").write_text("{}")
    with pytest.raises(SystemExit):
        main([*(one.replace("MODEL", str(model)) for one in options), "--output-dir", str(out)])
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_model_that_thinks_has_more_room() -> None:
    for thinking, tokens in (("as_is", 512), ("off", 512), ("on", 1024)):
        here = Settings("hf:m", thinking=thinking)
        assert here.reply_tokens("hf:m") == tokens
        assert here.reply_tokens("openai:m") == 8192
    assert Training(model="m", thinking="on").turn_tokens == 1024
    assert Settings("hf:m", thinking="on", max_new_tokens=7).reply_tokens("hf:m") == 7


def test_equal_attempts_are_refused() -> None:
    tokenizer = tiny_tokenizer()
    with pytest.raises(InvalidInput, match="2 samples at temperature 0"):
        held_out(tiny_model(tokenizer), tokenizer, "all", 1, samples=2)
