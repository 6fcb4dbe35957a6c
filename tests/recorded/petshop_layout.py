"""A small data set in PetShop's layout: two issues of three components, and an hour without one."""

import gzip
import json
from pathlib import Path

#: 2023-04-13T10:00:00Z, and the names that the published layout has.
START = 1_681_380_000
SITE, SEARCH, TABLE = "PetSite", "Pet Search/x_AWS::ECS::Fargate", "petInfo_AWS::DynamoDB::Table"
COLUMNS = [
    (service, *metric)
    for service in (SITE, SEARCH, TABLE)
    for metric in (
        ("latency", "Average"), ("latency", "p99"), ("availability", "Average"),
        ("requests", "Sum"), ("temperature", "p99"),
    )
]  # fmt: skip


def write_metrics(path: Path, begin: int, rows: int, broken: tuple[int, ...] = ()) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        ",".join((title, *(column[place] for column in COLUMNS)))
        for place, title in enumerate(("microservice", "metric", "statistic"))
    ]
    lines.append("unix_timestamp" + "," * len(COLUMNS))
    for number in range(rows):
        cells = [f"{begin + 300 * number}.0"]
        for service, metric, _ in COLUMNS:
            ill = number in broken and service != TABLE
            wobble = 0.001 * (number % 3)
            usual = {"latency": 0.0204 + wobble, "availability": 100.0, "requests": 50 + number % 2}
            value = usual.get(metric, 1.0) * (5 if ill and metric == "latency" else 1)
            cells.append("" if service == TABLE and metric == "availability" else str(value))
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_petshop(root: Path) -> Path:
    """Two scenarios with an issue each; the first has 30 samples without a fault, zipped."""
    for scenario in ("high", "none"):
        issue = root / scenario / "train" / "issue_0"
        shift = 86_400 if scenario == "none" else 0
        write_metrics(issue / "metrics.csv", START + shift, 5, broken=(2, 3))
        (issue / "target.json").write_text(
            json.dumps(
                {
                    "target": {
                        "node": SITE,
                        "metric": "latency",
                        "agg": "Average",
                        "timestamp": START + shift + 548,
                    },
                    "root_cause": {"node": SEARCH, "metric": None},
                }
            )
        )
        (root / scenario / "graph.csv").write_text(
            f",{SITE},{SEARCH},{TABLE}\n{SITE},0,1.0,0\n{SEARCH},0,0,1.0\n{TABLE},0,0,0\n"
        )
    write_metrics(root / "high" / "noissue" / "metrics.csv", START - 300 * 40, 30)
    plain = root / "high" / "noissue" / "metrics.csv"
    (plain.parent / "metrics.csv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return root
