"""A model behind an OpenAI-compatible endpoint, evaluated by verifiers on a few incidents.

    python examples/adapters/verifiers_eval.py URL MODEL

Needs the extra `verifiers`. URL is such as http://localhost:8000/v1, for a vLLM server on
this machine; the key, if it wants one, stands in the environment variable MODEL_KEY.
"""

import asyncio
import os
import sys
import tempfile


def main(url: str, model: str) -> None:
    import logtriage.adapters.verifiers  # noqa: F401, I001 (first: it names a missing extra)
    from verifiers.v1.cli.eval.runner import run_eval
    from verifiers.v1.configs.cli.eval import EvalConfig

    os.environ.setdefault("MODEL_KEY", "none")
    with tempfile.TemporaryDirectory() as folder:
        config = EvalConfig.model_validate(
            {
                "env": {
                    "taskset": {
                        "id": "logtriage-verifiers",
                        "tasks": ["single_crash-v4"],
                        "split": "val",
                        "episodes": 5,
                    }
                },
                "client": {"base_url": url, "api_key_var": "MODEL_KEY"},
                "model": model,
                "push": False,  # nothing leaves this machine
                "rich": None,
                "output_dir": folder,
            }
        )
        episodes = asyncio.run(run_eval(config))
    for episode in episodes:
        for trace in episode.traces:
            metrics = ", ".join(f"{name} {value:g}" for name, value in trace.metrics.items())
            state = f"{trace.reward:.3f}" if trace.ok else f"failed: {trace.last_error}"
            print(f"{trace.task.data.incident}: {state} ({metrics})")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
