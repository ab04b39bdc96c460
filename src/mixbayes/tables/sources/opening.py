"""From what a user types for TABLE to the source: a file by its ending, a folder, a pattern, a database, Spark."""

from __future__ import annotations

import re
import shlex
from glob import glob, has_magic
from pathlib import Path

from mixbayes.extras import naming_extras
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.excel import excel_sheet
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.respelled import Respelled
from mixbayes.tables.sources.source import Progress, Source, SourceAway, no_progress
from mixbayes.tables.sources.text_file import TextFile
from mixbayes.tables.sources.together import Together

PARQUET = (".parquet", ".pq")
DATABASES = ("duckdb", "mariadb", "mssql", "mysql", "oracle", "postgres", "postgresql", "sqlite")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
USUAL = How()
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
"""At the start of a file, and at its ninth byte."""
_SCHEME = re.compile(r"([a-z][a-z0-9+]+)(?:://.*|:(?!\\).*)", re.DOTALL)


def open_table(address: str | Path, how: How = USUAL) -> Source:
    """The table at this address; what is wrong with it is said of it by this name."""
    try:
        source = _opened(str(address), how)
    except OSError as error:
        raise BadData(f"{address} cannot be read: {error.strerror or 'damaged file'}.") from error
    except (BadData, SourceAway) as error:
        raise _named(error, str(address)) from None
    how.refuse_unknown(source.names)
    return source


def read_table(address: str | Path, how: How = USUAL, progress: Progress = no_progress) -> Columns:
    """The whole table at this address, in memory."""
    return read_source(open_table(address, how), progress)


def read_source(source: Source, progress: Progress = no_progress) -> Columns:
    """The whole of an opened table, in memory."""
    try:
        with source.named_in_errors():
            return source.read(source.names, progress)
    except OSError as error:
        raise BadData(f"{source.title} cannot be read: {error.strerror or 'damaged file'}.") from error


def _named(error: MixbayesError, address: str) -> MixbayesError:
    return error if str(error).startswith(address) else type(error)(f"{address}: {error}")


def _opened(address: str, how: How) -> Source:
    scheme = _SCHEME.fullmatch(address)
    if scheme and not Path(address).exists():
        return _engine(scheme[1], address, how)
    _refuse_options_of_databases(address, how)
    source = _files(address, how)
    return Respelled(source, how) if how.missing or how.decimal != "." else source


def _files(address: str, how: How) -> Source:
    if has_magic(address) and not Path(address).exists():
        paths = sorted(glob(address, recursive=True))
        if not paths:
            raise BadData("no file has a name of this pattern.")
        return Together(address, [_file(Path(path), how) for path in paths])
    return _file(Path(address), how)


def _engine(scheme: str, address: str, how: How) -> Source:
    if scheme in DATABASES:
        with naming_extras():
            from mixbayes.tables.sources.addresses import database  # with packages that only some installations have

        return database(scheme, address, how)
    if scheme == "spark":
        with naming_extras():
            from mixbayes.tables.sources.spark import spark_table  # likewise

            return spark_table(address, how)
    raise Unsupported(f"{address}: there is no source {scheme!r}.")


def _file(path: Path, how: How) -> Source:
    if path.is_dir() or path.suffix.lower() in PARQUET:
        return _parquet(path)
    if path.exists() and not path.is_file():
        raise BadData(f"{path} cannot be read: it is no file.")
    if path.suffix.lower() in EXCEL:
        return excel_sheet(path, how)
    _refuse_database(path)
    return TextFile(path, how)


def _refuse_database(path: Path) -> None:
    """A database's file is opened as a database, by its address."""
    with open(path, "rb") as file:
        start = file.read(len(_SQLITE))
    address = f"sqlite:///{path}" if start == _SQLITE else f"duckdb:{path}" if start[8:12] == _DUCKDB else ""
    if address:
        raise BadData(f"the file is a database. Say `{shlex.quote(address)}`.")


def _parquet(path: Path) -> Source:
    from mixbayes.tables.sources.parquet_files import ParquetFile, parquet_folder  # slow to import

    return Together(str(path), parquet_folder(path)) if path.is_dir() else ParquetFile(path)


def _refuse_options_of_databases(address: str, how: How) -> None:
    if how.table or how.query:
        word = "--table" if how.table else "--query"
        raise Unsupported(f"{address} is no database: {word} says nothing of it. Leave it out.")
