"""What must hold between the files of a world: each rule, broken once."""

from pathlib import Path

import pytest

from logtriage.world.loading import load_world
from logtriage.world.schema.parts import GROUPS
from tests.worlds.folders import NAME, copy_of, edit, refused

KIND = "kinds/overload.toml"
WORLD = "world.toml"
TOKENS = "tokens.toml"
SHOP = "topologies/shop.toml"
FAILED = "topics/failed.toml"
HIGH = 'high = { range = [85, 99], key = "cpu high" }'

#: (file, text, what takes its place, file of the error, the error).
BROKEN = [
    # names
    (WORLD, '"web-team", "data-team", "ops-team"', '"web team", "data-team", "ops-team"', WORLD,
     "teams: 'web team': expected a name of the form"),
    (WORLD, 'remedies = ["rollback", ', 'remedies = ["scale", "rollback", ', WORLD,
     "remedies: 'scale' stands there 2 times"),
    (WORLD, 'name = "deploy"', 'name = "overload"', WORLD,
     "name: 'overload' is a condition of kinds/overload.toml already"),
    (WORLD, 'name = "deploy"', 'name = "no_fault"', WORLD, "'no_fault' is reserved"),
    (WORLD, f'name = "{NAME}"', 'name = "My World"', WORLD, "name: 'My World': expected a name"),
    (TOKENS, '[[gauges]]\nname = "workers"', '[[gauges]]\nname = "cpu"', TOKENS,
     "gauges and spans: 'cpu' stands there 2 times"),
    (TOKENS, '{ name = "high", word', '{ name = "usual", word', TOKENS,
     "cpu: tokens: 'usual' stands there 2 times"),
    (TOKENS, 'name = "latency"', 'name = "none"', TOKENS, "alert: tokens: 'none' stands there 2"),
    (KIND, "order = 2", "order = 1", "kinds/",
     "heavy_query.toml and overload.toml both have order = 1; the next free one is 2"),
    (FAILED, "order = 1", "order = 1\nordinary = true", "topics/",
     "ordinary: expected true in exactly one topic, got everyday and failed"),
    # references
    (KIND, 'class = "capacity"', 'class = "capacitys"', KIND,
     "class: unknown class 'capacitys' (did you mean 'capacity'?); known: code, data, capacity"),
    (KIND, 'remedies = ["scale"]', "remedies = []", KIND,
     "remedies: expected at least one remedy of rollback, scale, kill-query"),
    (KIND, 'remedies = ["scale"]', 'remedies = ["scales"]', KIND,
     "remedies: unknown remedy 'scales' (did you mean 'scale'?)"),
    (KIND, '"datastore"]', '"datastores"]', KIND, "tiers: unknown tier 'datastores'"),
    (KIND, '"datastore"]', '"service"]', KIND, "tiers: a name stands twice in edge, service"),
    (KIND, "order = 2", 'order = 2\npages = "nobody"', KIND, "pages: unknown team 'nobody'"),
    (WORLD, 'pages = "ops-team"', 'pages = "web-team"', WORLD,
     "teams: 'ops-team' owns nothing and is paged for nothing"),
    (WORLD, 'pages = "ops-team"', 'pages = "nobody"', WORLD,
     "classes: capacity: pages: unknown team 'nobody'; known: owner, web-team"),
    (WORLD, 'owners = ["web-team"', 'owners = ["wob-team"', WORLD, "owners: unknown team"),
    (WORLD, '{ name = "capacity", weight = 30', '{ name = "capacity", weight = 20', WORLD,
     "classes: weights add up to 100, got code 40, data 30, capacity 20"),
    (WORLD, '{ name = "datastore" },', '{ name = "datastore" },\n  { name = "queue" },', WORLD,
     "tiers: 'queue' has no kind"),
    (WORLD, '"edge", entry = true', '"edge", entry = false', WORLD, "none has entry = true"),
    ("benign/backup.toml", '"edge", ', "", WORLD, "tiers: 'edge' has no benign kind"),
    (WORLD, "share = 200", "share = 901", WORLD, "1001 per mille, of at most 1000"),
    (WORLD, "background = 5,", "background = 0,", WORLD, "fog[0].background: expected 1 to 99"),
    (WORLD, "named = 25, blind = 0", "named = 25, blind = 101", WORLD,
     "fog[0].blind: expected 0 to 100, got 101"),
    (WORLD, "[alerts]\nmissed = 15\nnoisy = 5\n", "", WORLD, "missing field 'alerts'"),
    (WORLD, "missed = 15", "missed = 101", WORLD, "alerts.missed: expected 0 to 9"),
    # signatures
    (KIND, "cpu = { high = 75 }", "cpus = { high = 75 }", KIND,
     "signature.cpus: unknown sort 'cpus' (did you mean 'cpu'?); known: change, log"),
    (KIND, "cpu = { high = 75 }", "cpu = { hihg = 75 }", KIND,
     "signature.cpu: unknown token 'hihg' (did you mean 'high'?); known: high"),
    (KIND, "cpu = { high = 75 }", "cpu = { usual = 75 }", KIND,
     "signature.cpu: usual: the ordinary token takes what the others leave"),
    (KIND, "log = { failed = 10 }", "log = { timeout = 10, failed = 10 }", KIND,
     "signature.log: timeout: names a service that is called"),
    (KIND, "time = { itself = 70 }", "time = { itself = 101 }", KIND,
     "time.itself: expected a share in per cent, a whole number from 0 to 100; got 101"),
    (KIND, "log = { failed = 10 }", "", KIND,
     "signature.log: no topic that makes sense at tier 'edge', where one of failed does"),
    # texts
    (FAILED, "order = 1", "order = 1\nbackground = 3", FAILED,
     "background: world.toml says it, too: background.log.failed is 20"),
    (FAILED, '"ERROR", "unhandled', '"EROR", "unhandled', FAILED,
     "phrasings.train: unknown level 'EROR' (did you mean 'ERROR'?)"),
    (FAILED, "{n} requests", "{m} requests", FAILED,
     "unknown placeholder 'm'; known: n, ms, fast, pct, mb, bytes, v, id, ip, cause"),
    (FAILED, "{n} requests", "{dep} requests", FAILED, "unknown placeholder 'dep'"),
    ("topics/timeout.toml", "{dep} timed", "it timed", "topics/timeout.toml", "lacks {dep}"),
    (FAILED, "unhandled exception while serving a request", "request answered in {ms} ms", FAILED,
     "stands in topics/everyday.toml, too: nobody could tell which it is"),
    (KIND, 'train = [["ERROR", "demand is above capacity"]]', "train = []", KIND,
     "names.train: expected at least one [level, text]"),
    (KIND, 'train = ["demand above capacity"]', "train = []", KIND,
     "past.train: expected at least one"),
    (KIND, '"demand above capacity"', '"demand above {n}"', KIND, "no placeholder can stand here"),
    (FAILED, 'word = "~failed"', 'word = "hot"', FAILED, "word: 'hot' stands for high, too"),
    (FAILED, 'word = "~failed"', "", FAILED, "word: expected one printable line"),
    # figures
    (TOKENS, 'shows = { usual = "usual", high', 'shows = { usual = "usuals", high', TOKENS,
     "cpu: readings[0].shows.usual: unknown figure 'usuals'"),
    (TOKENS, 'shows = { usual = "usual", high = "high" }', 'shows = { usual = "usual" }', TOKENS,
     "cpu: readings: none shows 'high' at tier 'edge': it would look as usual"),
    (TOKENS, 'shows = { usual = "usual", high = "high" }', 'shows = { high = "high" }', TOKENS,
     "cpu: readings[0].shows: expected a figure for usual"),
    (TOKENS, 'key = "cpu high"', 'key = "cpu usual"', TOKENS, "key 'cpu usual' is that of"),
    (TOKENS, HIGH, 'high = { version = true }', TOKENS, "'high' is a version; expected a number"),
    (TOKENS, HIGH, 'high = { scaled_range = { of = "high", percent = [1, 2] } }', TOKENS,
     "cpu: figures.high: cannot be made from 'high'; a range or requests can: usual"),
    (TOKENS, HIGH, 'high = { scaled_range = { of = "low", percent = [1, 2] } }', TOKENS,
     "cpu: figures.high: cannot be made from 'low'"),
    (TOKENS, '[[spans]]\nname = "errors"', '[[spans]]\nname = "fails"', TOKENS,
     "alert: watches: unknown half of a trace 'errors'; known: time, fails"),
    (TOKENS, '"change", "cpu", ', '"change", ', TOKENS, "runbook_order: expected"),
    (TOKENS, "slow = 300", "slow = 199", TOKENS,
     "latency.slow: expected at least four times usual"),
    (TOKENS, "failing = 60", "failing = 1", TOKENS,
     "failing: expected more than the usual errors"),
    (TOKENS, 'train = ["ana", "bo", "deploy-bot"]', "train = []", TOKENS,
     "change: authors.train: expected at least one"),
    (TOKENS, '"bump client library"', '"bump {n}"', TOKENS,
     "change: tokens: release: about.train: 'bump {n}': no placeholder can stand here"),
    (WORLD, '{ name = "datastore" }', '{ name = "storage" }', WORLD,
     "tiers: 'service' and 'storage' begin alike; the runbook tells tiers by their initials"),
    (WORLD, 'words = "releases"', 'words = "{n} releases"', WORLD,
     "distractions: deploy: words: '{n} releases': no placeholder can stand here"),
    (TOKENS, 'label = "cpu %"', 'label = "{n}"', TOKENS,
     "cpu: readings[0].label: '{n}': no placeholder can stand here"),
    # severities
    (WORLD, "errors = 500, p99 = 2000", "errors = 100, p99 = 2000", WORLD,
     "severity_rule: errors must fall from row to row"),
    (WORLD, '{ severity = "P2", errors = 100, p99 = 800 },', "", WORLD,
     "severity_rule: expected rows for P1, P2, got P1"),
    (WORLD, "errors = [150, 400]", "errors = [150, 500]", WORLD,
     "edge.bands: P2: errors: expected [least, most] within 100 to 499 by severity_rule"),
    (WORLD, 'calm = [{ errors = "usual"', 'calm = [{ errors = "usul"', WORLD,
     "edge.calm: unknown band 'usul' (did you mean 'usual'?)"),
    (WORLD, "errors = [5, 15]", "errors = [5, 15], p99 = [1, 2]", WORLD,
     "edge.bands: usual: p99: the first band has none"),
    # topologies and tasks
    (SHOP, 'tier = "datastore"', 'tier = "database"', SHOP, "unknown tier 'database'"),
    (SHOP, 'tier = "datastore" }', 'tier = "datastore", calls = ["web"] }', SHOP,
     "services: shop-db: calls: tier 'datastore' calls nobody"),
    (SHOP, 'calls = ["shop-db"]', 'calls = ["shop-db", "web"]', SHOP,
     "services: calls go in a circle: web -> shop -> web"),
    (SHOP, 'calls = ["shop-db"]', 'calls = ["shop-dbs"]', SHOP,
     "calls: unknown service 'shop-dbs' (did you mean 'shop-db'?)"),
    (SHOP, 'tier = "datastore"', 'tier = "datastore", owner = "dota-team"', SHOP,
     "services: shop-db: owner: unknown owner 'dota-team'"),
    (SHOP, 'tier = "datastore"', 'tier = "datastore", owner = "ops-team"', SHOP,
     "services: shop-db: owner: unknown owner 'ops-team'; known: web-team, data-team"),
    (WORLD, 'topology = "shop"', 'topology = "shops"', WORLD,
     "tasks: outage: topology: unknown topology 'shops' (did you mean 'shop'?); known: shop"),
    (WORLD, 'topology = "shop"', "services = [5, 9]", WORLD,
     "tasks: outage: services: needs [drawn_topologies]"),
    (WORLD, 'topology = "shop"', "", WORLD, "tasks: outage: expected either topology or services"),
    (WORLD, "par = 7", "par = 9", WORLD, "tasks: outage: par: expected 1 to 8, got 9"),
    (WORLD, "onset = 4", "onset = 99", WORLD, "tasks: outage: onset: expected 1 to 6, got 99"),
    (WORLD, "severities = [1, 1, 1]", "severities = [0, 0, 0]", WORLD,
     "tasks: outage: severities: expected 3 weights, not all 0"),
    (WORLD, "severities = [1, 1, 1]", "severities = [1, 1, 1]\ncounts = [1, 1, 1, 1]", WORLD,
     "tasks: outage: counts: expected 1 to 3 weights"),
    (WORLD, "severities = [1, 1, 1]",
     "severities = [1, 1, 1]\ncounts = [0, 0, 1]\ncalled_only = true", WORLD,
     "topology: 'shop' has places for 2 of the faults of an incident; counts asks for 3"),
    (WORLD, "  { background = 30, named = 0, blind = 10 },\n"
     "  { background = 40, named = 0, blind = 20 },\n",
     "", WORLD, "fog: expected at least 3 levels, got 2"),
    ("topics/timeout.toml", '["edge", "service", "datastore"]', '["edge"]', "topics/timeout.toml",
     "tiers: whoever calls may name a dependency: add service"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "where", "error"), BROKEN, ids=[one[4][:60] for one in BROKEN]
)
def test_a_world_that_breaks_a_rule_is_refused(
    tmp_path: Path, file: str, old: str, new: str, where: str, error: str
) -> None:
    own = copy_of("tiny", tmp_path)
    load_world(own)
    edit(own / file, old, new)
    lines = refused(own).splitlines()
    assert [line for line in lines if line.startswith(f"{NAME}/{where}: ") and error in line], lines


def test_a_kind_pages_a_team_that_its_tasks_have(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    edit(own / KIND, "order = 2", 'order = 2\npages = "ops-team"')
    load_world(own)
    edit(own / SHOP, "services = [", 'teams = ["web-team", "data-team"]\nservices = [')
    edit(own / WORLD, 'pages = "ops-team"', 'pages = "owner"')
    assert refused(own) == (
        f"{NAME}/{KIND}: pages: unknown team 'ops-team'; known: web-team, data-team in topology "
        "'shop' of task 'outage'"
    )


def test_a_tier_has_a_class_of_its_own_kinds_only_if_something_lives_there(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    (own / "kinds/heavy_query.toml").unlink()
    assert "classes: 'data' has no kind" in refused(own)


def test_a_topic_without_background_is_one_mistake_in_its_own_file(tmp_path: Path) -> None:
    own = copy_of("oncall", tmp_path)
    text = (own / "topics/busy_job.toml").read_text()
    words = "".join(f'{group} = [["INFO", "lookup in {group}"]]\n' for group in GROUPS)
    (own / "topics/lookup.toml").write_text(
        text.replace("order = 16", "order = 19").replace("~job", "~lookup")
        + f"[phrasings]\n{words}"
    )
    assert refused(own) == (
        "own/topics/lookup.toml: background: expected at least 1 per cent: any service of "
        "edge, service, datastore, queue may show it by mistake"
    )


def test_a_drawn_topology_needs_tiers_that_call(tmp_path: Path) -> None:
    own = copy_of("oncall", tmp_path)
    edit(own / "world.toml", 'tier = "service", share = 58', 'tier = "service", share = 59')
    assert "drawn_topologies.tiers: shares add up to 100" in refused(own)
    edit(own / "world.toml", "share = 59", "share = 58")
    edit(own / WORLD, '{ name = "edge-gateway", tier = "edge"', '{ name = "x", tier = "queue"')
    assert "gateway.tier: unknown entry tier 'queue'; known: edge" in refused(own)


SEEN = [
    ("cpu = { high = 25 }", "cpu = { high = 0 }", "background.cpu.high: expected at least 1 per"),
    (
        "cpu = { high = 25 }", "cpu = { high = 100 }",
        "background.cpu: high 100 leave nothing of 100",
    ),
    (
        "time = { itself = 20, calls = 20 }", "time = { itself = 20 }",
        "background.time.calls: expected at least 1 per cent: any service of edge",
    ),
    ("timeout = 10, names = 3 }", "timeout = 10 }", "background.log.names: expected at least 1"),
    (
        "cpu = { high = 25 }", "cpu = { high = 25, names = 3 }",
        "background.cpu: unknown token 'names'; known: high",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "other", "said"), SEEN)
def test_where_signs_stay_no_reading_is_proof(
    text: str, other: str, said: str, tmp_path: Path
) -> None:
    own = copy_of("tiny", tmp_path)
    edit(own / WORLD, text, other)
    assert said in refused(own)


def test_names_have_a_background_only_where_lines_name_their_cause(tmp_path: Path) -> None:
    own = copy_of("tiny", tmp_path)
    edit(own / WORLD, "named = 25,", "named = 0,")
    edit(own / WORLD, "named = 5,", "named = 0,")
    assert "names: no level of fog has lines that name" in refused(own)
    edit(own / WORLD, "timeout = 10, names = 3 }", "timeout = 10 }")
    load_world(own)
