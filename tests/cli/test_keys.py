"""`mixbayes keys` as it is typed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mixbayes.cli.app import app
from mixbayes.keys.folder import load_keys
from mixbayes.keys.problems import BadKeys
from mixbayes.protocol.errors import Unsupported


def keys(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["keys", *map(str, arguments)])


def said(result: Result, field: str) -> str:
    """What stands behind this word on stderr."""
    (line,) = [line for line in result.stderr.splitlines() if line.startswith(f"{field}:")]
    return line.removeprefix(f"{field}:").strip()


def test_from_nothing_to_keys_that_load(tmp_path: Path) -> None:
    authority = tmp_path / "ca"
    made = keys("authority", authority)
    for name in ("cleveland", "a"):
        folder = tmp_path / name
        requested = keys("request", name, "--out", folder)
        signed = keys("sign", folder / f"{name}.csr", "--authority", authority, "--out", folder / f"{name}.pem")
        (folder / "authority.pem").write_bytes((authority / "authority.pem").read_bytes())
        assert [result.exit_code for result in (made, requested, signed)] == [0, 0, 0]
        assert [result.stdout for result in (made, requested, signed)] == ["", "", ""]
        assert said(requested, "name") == said(signed, "name") == name
        assert said(requested, "fingerprint") == said(signed, "fingerprint") != said(made, "fingerprint")
        expires = load_keys(folder, name, datetime.now(UTC)).expires
        assert said(signed, "valid").endswith(f" to {expires:%Y-%m-%d}")


def test_no_secret_is_printed(tmp_path: Path) -> None:
    made, requested = keys("authority", tmp_path), keys("request", "north", "--out", tmp_path)
    for file in ("authority.key", "north.key"):
        secret = (tmp_path / file).read_text().splitlines()[1]
        assert secret not in made.output + requested.output
    assert (tmp_path / "north.state").read_bytes().hex() not in requested.output


def test_options(tmp_path: Path) -> None:
    assert said(keys("authority", tmp_path, "--name", "heart 2026", "--days", 30), "name") == "heart 2026"
    keys("request", "north", "--out", tmp_path)
    signed = keys("sign", tmp_path / "north.csr", "--authority", tmp_path, "--out", tmp_path / "north.pem", "--days", 7)
    begins, ends = (datetime.fromisoformat(day) for day in said(signed, "valid").split(" to "))
    assert 7 <= (ends - begins).days <= 8


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (("request", "North", "--out", "."), Unsupported, 2),
        (("sign", "none.csr", "--authority", ".", "--out", "x.pem"), BadKeys, 3),
        (("authority", "ca"), BadKeys, 3),
    ],
)
def test_mistakes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    kind: type[BadKeys | Unsupported],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    keys("authority", "ca")
    error = keys(*arguments).exception
    assert type(error) is kind or isinstance(error, kind)
    assert isinstance(error, BadKeys | Unsupported)
    assert error.exit_code == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca"]


@pytest.mark.parametrize(
    "arguments", [("request", "north"), ("sign", "x.csr"), ("authority", "x", "--days", "0"), ("authority",)]
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert keys(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["authority", "request", "sign"])
def test_help_has_examples(command: str) -> None:
    assert f"mixbayes keys {command} " in keys(command, "--help").stdout
