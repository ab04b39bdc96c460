from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import read_table


def test_times_of_96_bits_are_in_utc(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([datetime(2024, 3, 10, 2, 30, 0, 250_000), None], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "96.parquet", use_deprecated_int96_timestamps=True)
    pq.write_table(table, tmp_path / "64.parquet")
    assert read_table(tmp_path / "96.parquet").texts("a").tolist() == ["2024-03-10 02:30:00.25Z", ""]
    assert read_table(tmp_path / "64.parquet").texts("a").tolist() == ["2024-03-10 02:30:00.25", ""]


def test_a_decimal_comma_concerns_texts_only(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["1,5", "2"], "number": [1.234, 2.5]}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", How(decimal=","))
    assert table.texts("text").tolist() == ["1.5", "2"]
    assert table.texts("number").tolist() == ["1.234", "2.5"]
