"""Several sources with the same columns as one, their rows one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mixbayes.protocol.errors import BadData
from mixbayes.tables.sources.source import Part, Source


class Together(Source):
    """The files of a folder or of a pattern."""

    def __init__(self, title: str, sources: Sequence[Source]) -> None:
        self.title = title
        self.names = sources[0].names
        self.remarks = tuple(dict.fromkeys(remark for source in sources for remark in source.remarks))
        self._sources = sources
        for other in sources[1:]:
            if set(other.names) != set(self.names):
                raise BadData(
                    f"{other.title} has other columns than {sources[0].title}. Give all the same columns, or name one."
                )

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        for at, source in enumerate(self._sources):
            with source.named_in_errors():
                for part in source.parts(names):
                    yield Part(part.columns, at, len(self._sources))
