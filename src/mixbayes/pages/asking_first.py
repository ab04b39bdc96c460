"""A connection that takes a large body only from somebody who may send one, before anything of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError

SMALL = 4096
"""Bytes of a body that anybody may send: the button of a link sends none."""
MaySend = Callable[[Mapping[str, str]], bool]
"""Called with the headers of a request, by their names in capitals."""


def channel_that_asks_first(may_send: MaySend) -> type[Any]:
    """The class of a server's connections."""

    class Parser(HTTPRequestParser):  # type: ignore[misc]  # it publishes no types
        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            if (self.chunked or self.content_length > SMALL) and not may_send(self.headers):
                raise ParsingError("This request did not come from the page")

    class Channel(HTTPChannel):  # type: ignore[misc]
        parser_class = Parser

    return Channel
