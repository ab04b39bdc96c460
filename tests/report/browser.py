"""A page opened in a real browser, at a width of our choice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PATIENCE = 120
NAMES = "chromium", "chromium-browser", "google-chrome"
_TALL = 4000

# No window is as narrow as a phone, so the page is opened in a frame; what the frame shows is asked from outside it.
_LOOK = r"""
<body style="margin:0"><pre id="seen"></pre>
<iframe id="page" style="border:0;width:WIDTHpx;height:TALLpx" srcdoc="CONTENT"></iframe>
<script>
const frame = document.getElementById("page");
frame.onload = () => {
  const page = frame.contentDocument, all = (what) => [...page.querySelectorAll(what)];
  const inside = (letter) => {
    const own = letter.getBoundingClientRect(), around = letter.ownerSVGElement.getBoundingClientRect();
    return own.left >= around.left - 1 && own.right <= around.right + 1 && own.bottom <= around.bottom + 1;
  };
  const lines = (node, word) => {
    const range = page.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return new Set([...range.getClientRects()].map((one) => one.top)).size;
  };
  const nodes = (one) => [...one.childNodes].flatMap((each) => each.nodeType === 3 ? [each] : nodes(each));
  const torn = (cell) => nodes(cell).flatMap((node) =>
    [...node.data.matchAll(/\S+/g)].filter((word) => lines(node, word) > 1).map((word) => word[0]));
  const shown = all("figure svg").filter((one) => one.getClientRects().length);
  const letters = shown.flatMap((one) => [...one.querySelectorAll("text")]);
  document.getElementById("seen").textContent = JSON.stringify({
    title: page.title,
    text: page.body.innerText,
    width: page.documentElement.scrollWidth,
    pictures: shown.map((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height]),
    letters: Math.min(...letters.map((one) => one.getBoundingClientRect().height)),
    outside: letters.filter((one) => !inside(one)).map((one) => one.textContent),
    broken: all("code span").filter((one) => one.getClientRects().length > 1).map((one) => one.textContent),
    torn: all("th, td").flatMap(torn),
    values: all("data").map((one) => one.getAttribute("value")),
    hacked: Boolean(frame.contentWindow.hacked || window.hacked),
    fetched: frame.contentWindow.performance.getEntriesByType("resource").map((one) => one.name),
  });
};
</script>
"""


@dataclass(frozen=True)
class Opened:
    """What the browser made of a page."""

    title: str
    text: str
    width: int
    """Of all that is on it; more than the frame's means scrolling sideways."""
    pictures: list[tuple[float, float]]
    letters: float
    """Height of the smallest letters in a picture."""
    outside: list[str]
    """Words that stick out of their picture."""
    broken: list[str]
    """Words of a command that go over the end of a line."""
    torn: list[str]
    """Words in a table that go over the end of a line."""
    values: list[str]
    hacked: bool
    fetched: list[str]


def opened(page: str, width: int) -> Opened:
    """The page in a frame of this width."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "frame.html")
        look = _LOOK.replace("WIDTH", str(width)).replace("TALL", str(_TALL))
        file.write_text(look.replace("CONTENT", escape(page)), encoding="utf-8")
        dumped = _run(folder, "--dump-dom", f"--window-size={width + 40},{_TALL}", file.as_uri())
    found = re.search(r'<pre id="seen">(.*?)</pre>', dumped, re.DOTALL)
    assert found, dumped[:2000]
    return Opened(**json.loads(unescape(found[1])))


def printed(page: Path, out: Path) -> bytes:
    """The page as the PDF that the browser prints."""
    _run(str(out.parent), f"--print-to-pdf={out}", "--no-pdf-header-footer", page.as_uri())
    return out.read_bytes()


def _run(folder: str, *what: str) -> str:
    command = [
        *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
        *("--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--virtual-time-budget=5000"),
        *(f"--user-data-dir={folder}/profile", *what),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def browser() -> str:
    """Its path. In continuous integration there must be one; elsewhere the test is skipped."""
    if "CI" not in os.environ:
        pytest.skip("only make ci opens pages in a browser")
    if found := next(filter(None, map(shutil.which, NAMES)), None):
        return found
    pytest.fail(f"no browser: none of {', '.join(NAMES)} is installed (make browser)")
