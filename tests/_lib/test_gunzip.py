"""Gzip is unpacked while it stays in proportion."""

import gzip
import io

import pytest

from logtriage._lib.gunzip import ALWAYS, unpacked


def test_usual_content_comes_out_whole() -> None:
    content = b"".join(b"line %d of a log\n" % number for number in range(20_000))
    assert unpacked(io.BytesIO(gzip.compress(content))).read() == content


@pytest.mark.parametrize("filler", [b" ", b"\n"])
def test_gigabytes_of_blanks_are_not_read_to_the_end(filler: bytes) -> None:
    stream, read = unpacked(io.BytesIO(gzip.compress(filler * (2 * ALWAYS)))), list[int]()
    with pytest.raises(gzip.BadGzipFile, match="more than 300 times its size"):
        read.extend(iter(lambda: len(stream.read(1 << 16)), 0))
    assert sum(read) <= ALWAYS
