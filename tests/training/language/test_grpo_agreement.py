"""Whether gradients of independent steps agree, by credit."""

import pytest

from logtriage.errors import InvalidInput
from tests.training.language.models import TASK, save_acting
from training.grpo import agreement
from training.grpo.agreement import Credit, agreements
from training.grpo.settings import Settings


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        model=str(save_acting(tmp_path_factory.mktemp("acting"))),
        task=TASK,
        group=4,
        rollouts=8,
        batch=4,
        turn_tokens=1,
        completion_tokens=2048,
        precision="fp32",
        use_cpu=True,
        gradient_checkpointing=False,
        report_to="none",
    )


def test_agreement_is_of_different_steps_under_the_same_credit(settings: Settings) -> None:
    credited = [Credit("shaped", 0.5), Credit("grade"), Credit("shaped", 0.5)]
    done: list[int] = []
    found = agreements(settings, credited, 2, done.append)
    assert done == [1, 2]
    by_part = {part: [one for one in found if one.part == part] for part in agreement.PARTS}
    for first, grade, again in by_part.values():
        assert first == again
        # Of the first credit both columns are the same cosine; another one differs.
        assert first.agreement == pytest.approx(first.with_first)
        assert grade.agreement != first.agreement
    whole, *parts = (rows[0].weights for rows in by_part.values())
    assert 0 < sum(parts) <= whole


def test_the_table_comes_by_one_command(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--model", settings.model, "--task", TASK, "--group", "2", "--rollouts", "2"]
    options += ["--batch", "2"]
    options += ["--turn-tokens", "1", "--completion-tokens", "2048", "--precision", "fp32"]
    agreement.main(["--preset", "cpu", *options, "--credits", "shaped:0.5", "--steps", "2"])
    said = capsys.readouterr()
    rows = said.out.splitlines()
    assert len(rows) == 2 + len(agreement.PARTS)
    assert rows[2].startswith("| all weights, ")
    assert "| shaped, λ = 0.5 |" in rows[2]
    assert "steps: 2 to do" in said.err


def test_credits_are_read_as_written() -> None:
    assert Credit.read("grade") == Credit("grade", 1.0)
    assert Credit.read("step:0.25") == Credit("step", 0.25)
    with pytest.raises(InvalidInput, match="expected REWARD or REWARD:LAMBDA"):
        Credit.read("shaped:half")


def test_one_step_has_nothing_to_agree_with(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="at least 2"):
        agreements(settings, [Credit("grade")], 1)
