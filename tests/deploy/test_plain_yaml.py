"""The reader of our own compose file says what YAML says."""

from __future__ import annotations

import pytest

from tests.deploy.plain_yaml import read


def test_what_is_read() -> None:
    text = """
# comment
x-node: &node
  user: "10001:10001"
  read_only: true
  limits: {max-size: 10m, max-file: "5"}
services:
  a:
    <<: *node
    user: other
    command: [mixer, "--x, y"]
    volumes:
      - "./f:/g:ro"
      - state:/var  # why
    size: 7
volumes:
  state: {}
"""
    node = {"user": "10001:10001", "read_only": True, "limits": {"max-size": "10m", "max-file": "5"}}
    service = {"command": ["mixer", "--x, y"], "volumes": ["./f:/g:ro", "state:/var"], "size": 7}
    assert read(text) == {
        "x-node": node,
        "services": {"a": {**node, **service, "user": "other"}},
        "volumes": {"state": {}},
    }


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a\n", "a: [1, 2\n", "a: *nothing", "a: 1\n   b: 2\n c: 3"])
def test_what_is_refused(text: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        read(text)
