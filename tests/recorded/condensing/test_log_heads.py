"""Levels that log lines say by themselves: the heads of usual loggers, and lines of JSON."""

import pytest

from logtriage.recorded.condensing.log_heads import split_head

DAY = "2031-05-06"
#: Logger, line, and the level and text that it says; the text after the head, where it matters.
LINES = (
    ("klog", "E0506 10:03:21.123456       1 pay.go:42] no", "ERROR", "pay.go:42] no"),
    ("klog", "F0506 10:03:21.123456 1 pay.go:42] no", "FATAL", None),
    ("nginx", f"{DAY.replace('-', '/')} 10:03:21 [error] 7#7: *1 no", "ERROR", "7#7: *1 no"),
    ("apache", "[Sat May 06 10:03:21.123456 2031] [proxy:error] [pid 7] no", "ERROR", None),
    ("spring", f"{DAY}T10:03:21.250Z  WARN 1 --- [x-1] c.s.Pay : no", "WARN", None),
    ("spring", f"{DAY} 10:03:21.250 ERROR [pay,4bf9,00f0] 1 --- [x] c.s.Pay : no", "ERROR", None),
    ("logback", "10:03:21.123 [main] ERROR c.s.Pay - no", "ERROR", "c.s.Pay - no"),
    ("logback", "10:03:21.1 critical x", "FATAL", "x"),
    ("log4j", f"{DAY} 10:03:21,123 FATAL [main] c.s.Pay (Pay.java:42) - no", "FATAL", None),
    ("kafka", f"[{DAY} 10:03:21,123] ERROR [id=1] no (kafka.server)", "ERROR", None),
    ("cassandra", f"ERROR [main] {DAY} 10:03:21,123 Pay.java:42 - no", "ERROR", None),
    ("tomcat", "06-May-2031 10:03:21.123 SEVERE [main] org.apache.x no", "ERROR", None),
    ("python", f"{DAY} 10:03:21,123 - payments - ERROR - no", "ERROR", "no"),
    ("python", f"{DAY} 10:03:21,123 payments WARNING no", "WARN", "no"),
    ("python", "CRITICAL:root:no", "FATAL", "root:no"),
    ("loguru", f"{DAY} 10:03:21.123 | ERROR    | app.pay:charge:42 - no", "ERROR", None),
    ("gunicorn", f"[{DAY} 10:03:21 +0000] [7] [ERROR] no", "ERROR", "no"),
    ("uvicorn", "ERROR:    no", "ERROR", "no"),
    ("celery", f"[{DAY} 10:03:21,123: ERROR/ForkPoolWorker-1] no", "ERROR", None),
    ("zap", f"{DAY}T10:03:21.123Z\terror\tpay/charge.go:42\tno", "ERROR", None),
    ("zap", '{"level":"error","ts":1935828180.123,"msg":"no"}', "ERROR", "no"),
    ("logrus", f'time="{DAY}T10:03:21Z" level=error msg="no" order=17', "ERROR", None),
    ("logrus", "disk level=95 severity=warn", "WARN", None),
    ("spring", f"{DAY} 10:03:21.250 ERROR cannot set level=info", "ERROR", "cannot set level=info"),
    ("logrus", "ERRO[0001] no", "ERROR", None),
    ("zerolog", "10:03AM ERR no", "ERROR", "no"),
    ("monolog", '{"message":"no","level":200,"level_name":"INFO"}', "INFO", "no"),
    ("pino", '{"level":50,"time":1935828180000,"msg":"no"}', "ERROR", "no"),
    ("syslog", f"<11>1 {DAY}T10:03:21Z host app 7 - - no", "ERROR", "no"),
    ("syslog", "<12>May  6 10:03:21 host app[1]: no", "WARN", "no"),
    ("syslog", "May  6 10:03:21 host app[1]: ERROR: no", "ERROR", "no"),
    ("postgres", f"{DAY} 10:03:21.123 UTC [42] shop@shop ERROR:  no", "ERROR", "no"),
    ("postgres", f"{DAY} 10:03:21.123 UTC [42] LOG:  checkpoint", "INFO", "checkpoint"),
    ("mysql", f"{DAY}T10:03:21.123456Z 12 [Warning] [MY-010119] [Server] no", "WARN", None),
    ("redis", "1:M 06 May 2031 10:03:21.123 # no", "WARN", "no"),
    ("redis", "1:M 06 May 2031 10:03:21.123 * yes", "INFO", "yes"),
    ("rabbitmq", f"{DAY} 10:03:21.123456+00:00 [error] <0.1.0> no", "ERROR", None),
    ("envoy", f"[{DAY} 10:03:21.123][7][error][upstream] [x] no", "ERROR", None),
    ("elasticsearch", f"[{DAY}T10:03:21,123][ERROR][o.e.b.E] [n] no", "ERROR", None),
    ("mongodb", f"{DAY}T10:03:21.123+0000 E NETWORK  [conn1] no", "ERROR", None),
    ("mongodb", '{"t":{"$date":"x"},"s":"W","c":"NETWORK","msg":"no"}', "WARN", "no"),
    ("dotnet", "fail: Shop.Pay[0]", "ERROR", None),
    ("serilog", "[10:03:21 WRN] no", "WARN", "no"),
    ("ruby", f"E, [{DAY}T10:03:21.123456 #7] ERROR -- : no", "ERROR", "no"),
    ("monolog", f"[{DAY}T10:03:21.123456+00:00] app.ERROR: no {{}} []", "ERROR", None),
    ("tracing", f"\x1b[2m{DAY}T10:03:21Z\x1b[0m \x1b[31mERROR\x1b[0m pay: no", "ERROR", "pay: no"),
    ("go", "panic: runtime error", "FATAL", None),
    ("containerd", f"{DAY}T10:03:21.1Z stderr F E0506 10:03:21.1 1 a.go:1] no", "ERROR", None),
    ("ecs", f'{{"@timestamp":"{DAY}","log":{{"level":"error"}},"message":"no"}}', "ERROR", "no"),
    ("json", '{"severity": "warning", "message": "slow", "n": 1}', "WARN", "slow"),
    ("json", '{"level": 30, "message": null}', "INFO", '{"level": 30, "message": null}'),
    ("json", '{"s": ["E"], "c": 1, "level": "E", "msg": ""}', "ERROR", None),
    ("json in json", '{"log": "ERROR: no"}', "ERROR", "no"),
    *(
        ("access", line, level, line)
        for status, level in ((502, "ERROR"), (404, "INFO"))
        for line in (f'1.2.3.4 - - [06/May/2031:10:03:21 +0000] "GET / HTTP/1.1" {status} 1',)
    ),
    ("status", '{"level": "warn", "msg": "no", "status": 503}', "WARN", "no (status 503)"),
    *(
        ("none", line, None, line)
        for line in (
            *("order 17 charged", "Information on errors", "", "{not json", '{"a": 1}'),
            f"{DAY.replace('-', '/')} 10:03:21 http: TLS handshake broken",
            "{" * 100_000,
        )
    ),
)


@pytest.mark.parametrize(("logger", "line", "level", "text"), LINES)
def test_the_head_says_the_level(
    logger: str, line: str, level: str | None, text: str | None
) -> None:
    said, rest = split_head(line)
    assert said == level
    assert text is None or rest == text
    assert line.endswith(rest) or logger in ("logrus",) or line.startswith(("{", "\x1b"))


@pytest.mark.parametrize("filler", ["a", "a-", "[a", "a ", " ", "-", "<1>", "(x)"])
def test_a_long_line_without_a_level_is_read_in_linear_time(filler: str) -> None:
    """A head that is tried at every split of its words would take hours."""
    line = f"10:03:21 {filler * 200_000}"
    assert split_head(line) == (None, line)
