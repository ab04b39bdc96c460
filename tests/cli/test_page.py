"""`--page` of nodes and `mixbayes page`, as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mixbayes.pages.texts import english_file
from tests.cli.typed import Prompt
from tests.pages.visitor import Visitor
from tests.pages.ward import token
from tests.ports import free_port
from tests.services.helpers import Running, Site
from tests.test_extras import without_extras


def test_a_node_shows_its_page_from_its_start_to_its_end(site: Site, typed: Prompt, tmp_path: Path) -> None:
    state, port = tmp_path / "state", free_port()
    words = ("--name", "b", "--state", str(state), "--page", f"127.0.0.1:{port}")
    with Running(site, "mixer", *words) as node:
        node.ready()
        node.says("the page is there", f"http://127.0.0.1:{port}/enter/")
        (said,) = [json.loads(line)["link"] for line in node.said if "the page is there" in line]
        token(said)
        assert typed("page", "link", "--state", state).out == f"{said}\n"
        visitor = Visitor(port)
        assert "Round 1" in visitor.enter(said).text
        another = typed("page", "link", "--state", state).out.strip()
        assert another != said
        assert Visitor(port).enter(another).status == 200
        assert node.stop() == 0, node.all_said
    done = typed("page", "link", "--state", state)
    assert done.code == 6
    assert "Start the node with --page" in done.err


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0:8080", "192.0.2.1:8080", "127.0.0.5:8080", "[::1]:8080", "8080", "127.0.0.1", "127.0.0.1:http", "[::]:1"],
)
def test_a_page_for_other_machines_is_refused_before_the_node_starts(
    typed: Prompt, site: Site, tmp_path: Path, address: str
) -> None:
    done = typed.at(site, "a", "mixer", "--state", tmp_path / "state", "--page", address)
    assert done.code == 2
    assert f"--page {address}" in done.err
    assert not (tmp_path / "state").exists()


def test_texts_that_do_not_fit_are_refused_before_the_node_starts(typed: Prompt, site: Site, tmp_path: Path) -> None:
    (tmp_path / "texts.toml").write_text('[menu]\noverview = "{weather}"\n')
    words = ("--page", "127.0.0.1:0", "--page-texts", tmp_path / "texts.toml")
    done = typed.at(site, "a", "mixer", "--state", tmp_path / "state", *words)
    assert done.code == 6
    assert "[E150]" in done.err
    assert not (tmp_path / "state").exists()


def test_without_its_packages_a_page_is_refused_with_what_to_install(tmp_path: Path) -> None:
    words = "mixer --federation f.toml --name a --keys k --state s --page 127.0.0.1:8080"
    done = without_extras(tmp_path, *words.split())
    assert done.returncode == 2
    assert "pip install 'mixbayes[page]'" in done.stderr
    assert "[E111]" in done.stderr


def test_the_texts_are_printed_to_be_translated(typed: Prompt) -> None:
    assert typed("page", "texts").out == english_file()
