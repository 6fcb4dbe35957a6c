"""A chat endpoint as the model behind a policy, against a real server on this machine."""

import json
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from logtriage import grade, make_incident
from logtriage.adapters.endpoint import ChatEndpoint
from logtriage.adapters.request_limits import EndpointError
from logtriage.evaluation import PolicyFailure
from logtriage.evaluation.episodes import record_episode
from logtriage.evaluation.usage import Usage
from logtriage.playing import play
from logtriage.policies import ChatPolicies

INCIDENT = make_incident("single_crash-v4/test/0")
HELLO = [{"role": "user", "content": "hello"}]
Handler = Callable[[dict[str, Any]], tuple[int, bytes]]


def completion(content: str | None, **more: Any) -> bytes:
    return json.dumps(
        {
            "id": "1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [
                {
                    "index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content, **more},
                }
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
        }
    ).encode()  # fmt: skip


@contextmanager
def server(handler: Handler) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers by ``handler``; its URL, and the requests that it got."""
    seen: list[dict[str, Any]] = []

    class Handling(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body | {"path": self.path, "key": self.headers["Authorization"]})
            status, answer = handler(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handling)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1", seen
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def test_a_model_behind_an_endpoint_plays_an_episode() -> None:
    with server(lambda _: (200, completion('{"action_type": "resolve"}'))) as (url, seen):
        ask = ChatEndpoint("m", base_url=url, api_key="k", temperature=0.0, seed=7, max_tokens=50)
        state = play(INCIDENT, ChatPolicies(ask)(INCIDENT))
    assert grade(state).score == 0.0
    (body,) = seen
    assert (body["path"], body["key"], body["model"]) == ("/v1/chat/completions", "Bearer k", "m")
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 7, 50)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert ask.usage == Usage(1, 10, 3)
    assert ask.usage.cost(prompt_price=1.0, completion_price=10.0) == pytest.approx(40e-6)


def test_an_empty_reply_and_a_refusal_are_the_model_s_own() -> None:
    with server(lambda _: (200, completion(None))) as (url, _):
        assert ChatEndpoint("m", base_url=url)(HELLO) == ""
    with server(lambda _: (200, completion(None, refusal="I will not."))) as (url, _):
        assert ChatEndpoint("m", base_url=url)(HELLO) == "I will not."


def test_a_failure_that_passes_is_tried_again() -> None:
    answers = [(500, b"{}"), (429, b"{}"), (200, completion("at last"))]
    with server(lambda _: answers.pop(0)) as (url, seen):
        ask = ChatEndpoint("m", base_url=url, retries=2)
        assert ask(HELLO) == "at last"
    assert len(seen) == 3
    assert ask.usage.requests == 1


@pytest.mark.parametrize(
    "answer",
    [
        (500, b"{}"), (401, b'{"error": {"message": "who are you?"}}'),
        (200, b"<html>a proxy's page</html>"), (200, b"{}"), (200, b'{"choices": []}'),
        (200, b'{"choices": null}'), (200, b'{"choices": [{}]}'),
        (200, b'{"choices": [{"message": {"content": 7}}]}'), (200, b'["no", "object"]'),
    ],
)  # fmt: skip
def test_an_endpoint_that_fails_or_talks_garbage_leaves_the_episode_unscored(
    answer: tuple[int, bytes],
) -> None:
    with server(lambda _: answer) as (url, _):
        ask = ChatEndpoint("m", base_url=url, retries=1)
        with pytest.raises(EndpointError):
            ask(HELLO)
        transcript = record_episode(INCIDENT, ChatPolicies(ask), "m")
    assert ask.usage == Usage(retries=2 * (answer[0] == 500))
    assert transcript.actions == ()
    assert transcript.status.startswith("policy failed in tick 0: EndpointError: <m at http://")


def test_a_dead_and_a_slow_endpoint_are_named() -> None:
    with server(lambda _: (200, b"{}")) as (url, _):
        pass  # shut down: nobody listens any more
    with pytest.raises(PolicyFailure, match=r"EndpointError: <m at .*APIConnectionError"):
        play(INCIDENT, ChatPolicies(ChatEndpoint("m", base_url=url, retries=0))(INCIDENT))

    def slow(_: dict[str, Any]) -> tuple[int, bytes]:
        time.sleep(1)
        return 200, completion("late")

    with server(slow) as (url, _):
        ask = ChatEndpoint("m", base_url=url, retries=0, timeout=0.1)
        with pytest.raises(EndpointError, match="APITimeoutError"):
            ask(HELLO)


def test_threads_share_an_endpoint_and_a_pickled_one_begins_anew() -> None:
    with server(lambda body: (200, completion(body["messages"][0]["content"]))) as (url, _):
        ask = ChatEndpoint("m", base_url=url, api_key="secret")
        questions = [[{"role": "user", "content": str(number)}] for number in range(40)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, questions)) == [str(number) for number in range(40)]
        assert ask.usage.requests == 40
        again: ChatEndpoint = pickle.loads(pickle.dumps(ask))
        assert again.usage == Usage()
        assert again(HELLO) == "hello"
    assert "secret" not in repr(ask)


def test_replies_that_reached_the_limit_are_counted() -> None:
    answers = [completion("whole"), completion(None).replace(b'"stop"', b'"length"')]
    with server(lambda _: (200, answers.pop(0))) as (url, _):
        ask = ChatEndpoint("m", base_url=url)
        assert ask(HELLO) == "whole"
        assert ask.with_tools(HELLO, []) == {"role": "assistant", "content": ""}
    assert ask.usage == Usage(2, 20, 6, cut_off=1)


def test_an_endpoint_of_a_reasoning_model_is_asked_in_its_words() -> None:
    def handler(body: dict[str, Any]) -> tuple[int, bytes]:
        if "max_tokens" in body:
            told = {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "code": "unsupported_parameter",
            }
            return 400, json.dumps({"error": told}).encode()
        return 200, completion("thought over")

    with server(handler) as (url, seen):
        ask = ChatEndpoint("m", base_url=url, max_tokens=70)
        other = ask.counting_anew()
        assert ask(HELLO) == "thought over"
        assert other(HELLO) == "thought over"
    limits = [(one.get("max_tokens"), one.get("max_completion_tokens")) for one in seen]
    assert limits == [(70, None), (None, 70), (None, 70)]  # what was learnt is kept
    assert ask.usage == other.usage == Usage(1, 10, 3)
    assert ask.spent == other.spent == Usage(2, 20, 6)
