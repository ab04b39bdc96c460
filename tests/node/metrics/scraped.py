"""What a node answers Prometheus, asked for over HTTP and read by the library's own parser."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

PATIENCE = 30.0


@dataclass(frozen=True)
class Scraped:
    """By the name of a series and its labels, as text, the value."""

    text: str
    types: dict[str, str]
    values: dict[tuple[str, tuple[tuple[str, str], ...]], float]

    def value(self, name: str, **labels: str) -> float:
        return self.values[name, tuple(sorted(labels.items()))]

    @property
    def names(self) -> set[str]:
        """Of the series of this program, as they are exported."""
        return {name for name, _ in self.values if name.startswith("mixbayes_")}

    def labels_of(self, name: str) -> set[tuple[str, ...]]:
        return {tuple(key for key, _ in labels) for series, labels in self.values if series == name}


def read(text: str) -> Scraped:
    families = list(text_string_to_metric_families(text))
    values = {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}
    assert len(values) == sum(len(family.samples) for family in families), "a series is there twice"
    return Scraped(text, {family.name: family.type for family in families}, values)


def scrape(port: int, host: str = "127.0.0.1") -> Scraped:
    asked = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with asked.open(f"http://{host}:{port}/metrics", timeout=PATIENCE) as reply:
        return read(reply.read().decode())
