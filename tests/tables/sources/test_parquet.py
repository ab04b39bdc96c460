import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
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


def test_counting_does_not_load_pandas(tmp_path: Path) -> None:
    rows = 300_000
    table = pa.table({"a": pa.array(["x", None, "y"] * (rows // 3)), "b": pa.array([1.5, None, 2.0] * (rows // 3))})
    pq.write_table(table, tmp_path / "t.parquet")
    pacsv.write_csv(table, tmp_path / "t.csv")
    program = f"""
import sys
import numpy as np
from mixbayes.tables.sources.opening import open_table
for name in ("t.parquet", "t.csv"):
    for part in open_table({str(tmp_path)!r} + "/" + name).parts(["a", "b"]):
        part.columns.raw("a").coded()
        part.columns.raw("b").all_numbers()
        part.columns.take(np.array([0, 1])).raw("b").all_numbers()
print("pyarrow" in sys.modules, "pandas" in sys.modules)
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60).split() == ["True", "False"]
