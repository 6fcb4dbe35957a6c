"""Sealed incidents: the truth is nobody's who lacks the key, and the key is never shown."""

import copy
import gc
import logging
import pickle
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import attrs
import pytest

import logtriage as lt
from logtriage._lib.seal import MAX_KEY, MIN_KEY, Seal
from logtriage.codec import decode_transcript, encode_transcript, truth_to_json
from logtriage.drawing.ids import SEALED, IncidentId, parse_incident_id
from logtriage.errors import SealError, TranscriptError
from logtriage.evaluation import Incidents
from logtriage.grading import grade_jsonl, grade_to_json, grade_transcript
from logtriage.replaying import replay
from logtriage.rng import MASK, MIX_1, MIX_2, draw, mix, subkey
from logtriage.tasks import DRAWN_TASKS, get_task
from logtriage.world.simulation import SPEAKER_STREAM, Simulation

KEY = b"0123456789abcdef, the key of these tests"
SEAL, OTHER = Seal(KEY), Seal(b"another key, of 16 bytes or more")
TASK = "cascading_failure-v4"
ID = f"{TASK}/sealed/7"


def screen(incident: lt.Incident) -> str:
    return lt.render_observation(lt.observe(lt.initial_state(incident)))


def sealed(incident_id: str = ID, seal: Seal = SEAL) -> lt.Incident:
    return lt.make_incident(incident_id, seal=seal)


def find(incident_id: str) -> lt.Incident:
    return lt.make_incident(incident_id, seal=SEAL)


def simulation_of(incident: lt.Incident) -> Simulation:
    assert isinstance(incident.telemetry, Simulation)
    return incident.telemetry


def closed(incident: lt.Incident) -> lt.State:
    return lt.play(incident, [lt.RequestMoreLogs(None), lt.Resolve()])


def spellings(seal: Seal) -> list[bytes]:
    """The key, and what is as good as it, as it would look in any output."""
    digest = seal._digest
    assert digest is not None
    found = [KEY, KEY.hex().encode(), digest, digest.hex().encode()]
    return found + [repr(one)[2:-1].encode() for one in (KEY, digest)]


def test_a_key_has_a_least_length_and_the_error_does_not_show_it() -> None:
    for key in (b"", b"secret" * 2, b"x" * (MIN_KEY - 1), b"y" * (MAX_KEY + 1)):
        with pytest.raises(SealError, match=f"expected 16 to 1024 bytes, got {len(key)}") as caught:
            Seal(key)
        assert not key or key.decode() not in str(caught.value)
    with pytest.raises(SealError, match="expected bytes, got str") as caught:
        Seal("a secret as text, not as bytes")  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)
    assert Seal(b"x" * MIN_KEY) != Seal(b"x" * (MIN_KEY + 1))


def test_a_seal_is_shown_by_its_fingerprint_alone(caplog: pytest.LogCaptureFixture) -> None:
    @attrs.frozen
    class Holder:
        seal: Seal

    logging.getLogger("seal").warning("%s %r", SEAL, Holder(SEAL))
    shown = [repr(SEAL), str(SEAL), f"{SEAL}", repr(attrs.asdict(Holder(SEAL))), caplog.text]
    shown += [repr(parse_incident_id(ID, SEAL)), repr(Incidents(seal=SEAL)), repr(sealed())]
    for one in shown:
        assert not any(key in one.encode() for key in spellings(SEAL)), one
    assert all(SEAL.fingerprint in one for one in shown)
    with pytest.raises(TypeError):
        vars(SEAL)
    with pytest.raises(AttributeError, match="does not change"):
        SEAL.fingerprint = "another"
    with pytest.raises(AttributeError, match="does not change"):
        del SEAL.fingerprint


def test_the_fingerprint_is_a_keyed_hash_of_a_domain_of_its_own() -> None:
    key = blake2b(KEY, person=b"logtriage key").digest()
    found = blake2b(key=key, digest_size=8, person=b"logtriage print").hexdigest()
    assert SEAL.fingerprint == found
    drawn = blake2b(ID.encode(), key=key, digest_size=32, person=b"logtriage seed").digest()
    assert SEAL.seed(ID) == 1 << 256 | int.from_bytes(drawn, "little")
    # A seed of the same input is another hash: the domain tells them apart.
    assert SEAL.fingerprint not in f"{SEAL.seed(''):x}"
    assert SEAL.fingerprint != OTHER.fingerprint
    assert Seal(KEY) == SEAL
    assert hash(SEAL) == hash(Seal(KEY))


def test_a_pickle_holds_no_key_and_what_comes_of_it_says_so() -> None:
    left = pickle.loads(pickle.dumps(SEAL))
    assert (left, left.fingerprint) == (SEAL, SEAL.fingerprint)
    with pytest.raises(SealError, match="a pickle does not hold its key"):
        lt.make_incident(ID, seal=left)
    assert copy.copy(SEAL) is copy.deepcopy(SEAL) is SEAL
    incident = sealed()
    state = closed(incident)
    record = lt.transcript_of(state)
    results: list[Any] = [incident, state, record, lt.grade(state), Incidents(seal=SEAL)]
    results += [IncidentId(get_task(TASK), SEALED, 7, SEAL), left]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        for one in results:
            written = pickle.dumps(one, protocol)
            assert not any(key in written for key in spellings(SEAL)), one
            assert pickle.loads(written) == one


def test_nothing_keeps_the_key() -> None:
    seal = Seal(b"a key of this test alone")
    for number in range(3):
        incident = lt.make_incident(f"{TASK}/sealed/{number}", seal=seal)
        lt.grade(closed(incident))
    Incidents(seal=seal).recorded()
    gc.collect()
    holders = [one for one in gc.get_referrers(seal) if type(one).__name__ != "frame"]
    assert not holders
    # As it would be found, had something kept it.
    kept = {"seal": seal}
    assert [one for one in gc.get_referrers(seal) if type(one).__name__ != "frame"] == [kept]


@pytest.mark.parametrize("task", DRAWN_TASKS)
def test_a_sealed_incident_follows_from_its_key_and_its_id(task: str) -> None:
    ids = lt.incident_ids(task, "sealed", 20, start=3)
    assert ids[0] == f"{task}/sealed/3"
    drawn = [sealed(one) for one in ids]
    assert drawn == [lt.make_incident(one, seal=Seal(KEY)) for one in ids]
    assert [one.seal for one in drawn] == [SEAL.fingerprint] * 20
    others = [sealed(one, OTHER) for one in ids]
    assert sum(a.truth == b.truth for a, b in zip(drawn, others, strict=True)) < 10
    seeds = {simulation_of(one).seed for one in (*drawn, *others)}
    assert len(seeds) == 40
    assert min(seeds) > MASK  # no public id has such a seed


def test_without_the_key_the_error_says_how_to_give_it() -> None:
    for asked in (
        lambda: lt.make_incident(ID),
        lambda: lt.make_incident(f"{DRAWN_TASKS[-1]}/sealed/0"),
        lambda: parse_incident_id(ID).seed,
        lambda: grade_transcript(lt.transcript_of(closed(sealed()))),
    ):
        with pytest.raises(SealError, match=r"LOGTRIAGE_SEAL.*--seal-file PATH.*seal=Seal\(key\)"):
            asked()


def unmixed(value: int) -> int:
    """The inverse of :func:`logtriage.rng.mix`."""
    value = _unshifted(value, 31) * pow(MIX_2, -1, 1 << 64) & MASK
    value = _unshifted(value, 27) * pow(MIX_1, -1, 1 << 64) & MASK
    return _unshifted(value, 30)


def _unshifted(value: int, shift: int) -> int:
    found = value
    for _ in range(64 // shift + 1):
        found = value ^ (found >> shift)
    return found


def by_a_stream(incident: lt.Incident) -> int:
    """The seed, from the key of a stream whose draws everybody sees (who speaks when)."""
    known = subkey(simulation_of(incident).seed, SPEAKER_STREAM)
    return (unmixed(known) - mix(SPEAKER_STREAM)) & MASK


def test_the_key_of_a_stream_gives_the_seed_of_a_public_incident_and_no_sealed_one() -> None:
    public = lt.make_incident(f"{TASK}/test/3")
    assert by_a_stream(public) == simulation_of(public).seed
    found = by_a_stream(sealed())
    assert found not in (simulation_of(sealed()).seed, simulation_of(sealed()).seed & MASK)
    other_streams = range(1, 9)
    assert not {subkey(found, one) for one in other_streams} & {
        subkey(simulation_of(sealed()).seed, one) for one in other_streams
    }


@pytest.mark.parametrize("task", [TASK, "fleet_outage-v4", "compound_failure-v4"])
def test_no_draw_of_a_sealed_incident_is_under_a_key_that_a_search_could_find(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees the draws of a key of 64 bits can search for it; so no stream has one.

    The jitter of a log line has: its key is the line's own draw, and leads to nothing else.
    """
    keys: list[int] = []
    drawn: set[int] = set()

    def noted(key: int, a: int = 0, b: int = 0) -> int:
        keys.append(key)
        bits = draw(key, a, b)
        if key >= 1 << 256:
            drawn.add(bits)
        return bits

    modules = {
        name: module
        for name, module in sys.modules.items()
        if name.startswith("logtriage.") and vars(module).get("draw") is draw
    }
    assert {"logtriage.world.kept", "logtriage.world.histories"} <= modules.keys()
    for module in modules.values():
        monkeypatch.setattr(module, "draw", noted)
    state = lt.initial_state(sealed(f"{task}/sealed/1234567"))
    first, *_, last = state.incident.topology.names
    for action in (lt.RequestMetrics(first), lt.RequestTraces(last), lt.RequestMoreLogs(None)):
        lt.observe(state)
        state = lt.transition(state, action)
    lt.observe(state)
    assert len(keys) > 100
    assert {key for key in keys if key < 1 << 256} <= drawn


def test_records_carry_the_fingerprint_and_those_of_public_incidents_do_not() -> None:
    state, public = closed(sealed()), closed(lt.make_incident(f"{TASK}/test/7"))
    record = lt.transcript_of(state)
    assert record.seal == SEAL.fingerprint
    assert decode_transcript(encode_transcript(record)) == record
    graded = grade_transcript(record, resolve=find)
    assert graded == lt.grade(state)
    for told in (grade_to_json(graded), truth_to_json(state.incident)):
        assert told["seal"] == SEAL.fingerprint
    for told in (grade_to_json(lt.grade(public)), truth_to_json(public.incident)):
        assert "seal" not in told
    assert "seal" not in encode_transcript(lt.transcript_of(public))
    # What was graded is another thing under another key.
    assert lt.grade(closed(sealed(ID, OTHER))).digest != graded.digest
    assert replay(record, resolve=find)[-1] == state


def wrong(record: lt.Transcript) -> Iterator[tuple[lt.Transcript, Callable[[str], Any], str]]:
    """A record, how its incident is found, and what is said of it."""
    other = lambda one: lt.make_incident(one, seal=OTHER)  # noqa: E731
    yield record, other, f"played under the seal '{SEAL.fingerprint}'.*'{OTHER.fingerprint}'"
    yield record, lt.make_incident, "LOGTRIAGE_SEAL"
    yield attrs.evolve(record, seal=None), find, "seal: missing"
    yield attrs.evolve(record, incident=f"{TASK}/test/7"), find, "is not sealed, but the record"


def test_another_key_is_refused_before_anything_is_graded() -> None:
    for record, resolve, said in wrong(lt.transcript_of(closed(sealed()))):
        with pytest.raises(SealError, match=said):
            grade_transcript(record, resolve=resolve)
        with pytest.raises(SealError, match=said):
            replay(record, resolve=resolve)
        # A file of such lines is refused as a whole: not one of them becomes a bad line.
        bad: list[TranscriptError] = []
        written = [encode_transcript(record)] * 2
        with pytest.raises(SealError, match=f"<stream>:1: .*{said}"):
            list(grade_jsonl(written, resolve=resolve, on_error=bad.append))  # type: ignore[arg-type]
        assert not bad
