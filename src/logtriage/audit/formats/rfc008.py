"""The report of OpenEnv's RFC 008, version 1, under its severity policy v1.

The audit plays a task, or a served environment; it sees no package. So items about a build, a
container or a manifest are skipped, with the reason, and ``manifest`` is null: ``openenv
validate`` answers those.
"""

from collections.abc import Sequence
from typing import Any, Final

from logtriage.audit.formats.answers import Answer, Audited, said_of

_PACKAGE: Final = "the audit sees no package; openenv validate does"
_SANDBOX: Final = "the audit starts no sandbox; openenv validate does"
_SCHEMA: Final = "the audit reads no declaration of a served environment; openenv validate does"

#: The checks of the local lane that findings answer: severity, checks, what to do.
_ANSWERED: Final[dict[str, tuple[str, tuple[str, ...], str]]] = {
    "runtime.reward_well_formed": (
        "fail", ("measures", "reward"), "Return a finite number within the range, always."),
    "runtime.rubric_introspectable": (
        "warn", ("measures",), "Give every criterion a name, a score and a reason."),
    "runtime.reward_attribution": (
        "warn", ("telescoping",), "Let the rewards of the steps add up to the grade."),
    "runtime.seed_control": (
        "fail", ("determinism", "seed"), "Hand the seed of reset() on to all that draws."),
    "runtime.episode_determinism": (
        "fail", ("determinism", "seed"), "Draw from the seed alone, not from process or clock."),
    "runtime.episode_isolation": (
        "fail", ("replay",), "Make all state anew in reset()."),
    "runtime.oracle_containment": (
        "fail", ("leaks", "seeds", "truth"), "Keep the truth out of ids, orders and fields."),
    "semantic.oracle_max": (
        "fail", ("oracle",), "Let the right answer reach the upper bound."),
    "semantic.floor_gap": (
        "fail", ("idle", "gap", "null", "constant"), "Pay nothing for no work."),
    "semantic.canary_floor": (
        "fail", ("canaries", "null"), "Pay nothing for claims, injections and nonsense."),
    "semantic.no_solution_leakage": (
        "fail", ("leaks", "screens", "fairness", "truth"), "Keep the answer out of observations."),
    "semantic.verifier_determinism": (
        "fail", ("determinism", "replay"), "Compute the grade from the record alone."),
    "semantic.replayability": (
        "fail", ("replay",), "Grade a transcript as the episode that it records."),
}  # fmt: skip
#: The others, with the reason why the audit has no answer.
_SKIPPED: Final[dict[str, str]] = {
    **{
        f"static.{name}": _PACKAGE
        for name in (
            "manifest", "reproducible_build", "image_hygiene", "layout", "sbom", "oci_labels",
            "resource_declaration", "timeout_ceiling", "dependency_pinning",
            "task_distribution_pinning",
        )
    },
    **{
        f"runtime.{name}": _SANDBOX
        for name in ("network_policy", "host_containment", "resource_bounds")
    },
    **{
        f"runtime.{name}": _SCHEMA
        for name in (
            "observation_schema", "state_contract", "trajectory_record",
            "tool_declaration_accuracy", "task_declaration_accuracy",
        )
    },
    "semantic.verifier_portability": "the audit runs on one host",
    "semantic.resource_envelope": _SANDBOX,
}  # fmt: skip
_STATUS: Final = {Answer.YES: "pass", Answer.NO: "fail", Answer.OPEN: "skip"}


def rfc008(audited: Audited) -> dict[str, Any]:
    """The report: one result for each check of the local lane, and the policy's verdict."""
    results = [
        _result(check, severity, checks, advice, audited)
        for check, (severity, checks, advice) in _ANSWERED.items()
    ]
    verdict = "pass"
    for result in results:
        failed = result["status"] == "fail"
        if failed and _ANSWERED[result["check_id"]][0] == "fail":
            verdict = "fail"
            break
        verdict = "warn"  # of skipped ones there always are some
    skipped = [_line(check, "skip", [reason]) for check, reason in _SKIPPED.items()]
    return {
        "report_schema_version": "1",
        "target": audited.subject,
        "source_digest": audited.digest,
        "signature": "openenv.yaml",
        "manifest": None,
        "policy_version": "v1",
        "lane": "local",
        "levels_run": [2, 3],
        "results": sorted([*results, *skipped], key=lambda one: str(one["check_id"])),
        "verdict": verdict,
    }


def _result(
    check: str,
    severity: str,
    checks: Sequence[str],
    advice: str,
    audited: Audited,
) -> dict[str, Any]:
    made, seconds = audited.made, audited.seconds
    said = said_of(checks, made)
    status = _STATUS[said.answer]
    spent = sum(seconds.get(name, 0.0) for name in checks)
    found = {name: made[name].evidence for name in checks if name in made}
    return {
        **_line(check, status, list(said.evidence)),
        "measured": {name: evidence for name, evidence in found.items() if evidence},
        "remediation": f"{advice} ({severity})" if status == "fail" else None,
        "duration_s": spent,
    }


def _line(check: str, status: str, evidence: list[str]) -> dict[str, Any]:
    return {
        "check_id": check,
        "status": status,
        "measured": {},
        "evidence": evidence,
        "remediation": None,
        "duration_s": 0.0,
    }
