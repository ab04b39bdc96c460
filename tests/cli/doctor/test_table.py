"""What `mixbayes doctor` finds in a hospital's table."""

from __future__ import annotations

import pytest

from tests.cli.doctor.examined import Site, heart, lines, problems
from tests.keys.helpers import changed


def test_a_table_that_breaks_the_dictionary_is_told_by_column(site: Site) -> None:
    table = site.table("sex,age,chol,class\nx,40,210,absent\nm,old,280,present\n")
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert (done.exit_code, list(problems(done))) == (6, ["table"])
    for part in ("column 'sex': 'x' not in the list", "column 'age': 'old' not a number", "[E101]"):
        assert part in done.stdout
    assert site.doctor("north", "--data", table).exit_code == 6, "what waiting does not mend outweighs who is missing"
    assert site.doctor("north", "--data", site.folder / "none.csv").exit_code == 6


def test_clipped_values_are_counted_by_column(site: Site) -> None:
    table = site.table(
        "more,sex,age,chol,class\n1,f,140,10,absent\n2,m,200,280,present\n3,m,30,280,present\n4,f,40,210,absent\n"
    )
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert done.exit_code == 0
    assert lines(done)["values beyond the bounds"].startswith("WARNING 3 values lie beyond")
    assert "age 2, chol 1" in done.stdout
    assert "bounds too narrow? [" in done.stdout or "bounds too narrow?\n" in done.stdout
    assert "0 problems and 1 warning among" in done.stderr
    assert "not looked at: 1" in lines(done)["table"]


@pytest.mark.parametrize(
    ("rows", "probably"), [(["f,40,1"] * 3 + ["f,40,210", "f,40,"], True), (["f,40,1", "f,40,210"], False)]
)
def test_a_column_that_is_mostly_beyond_the_bounds_has_another_unit(
    site: Site, rows: list[str], probably: bool
) -> None:
    table = site.table("\n".join(["sex,age,chol,class", *(f"{row},absent" for row in rows)]) + "\n")
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert done.exit_code == 0
    said = "More than half of the values of chol do: it is probably in another unit. Convert it before the node starts."
    assert lines(done)["values beyond the bounds"].startswith("WARNING")
    assert (said in done.stdout) is probably


def test_cells_with_more_values_than_count_are_counted(site: Site) -> None:
    lists = {"name": "codes", "kind": "several", "values": ["I10", "E11", "N18"], "most": 1}
    site.agree(changed(heart(), (("dictionary", "attributes", 2), lists)))
    table = site.table("sex,age,codes,class\nf,40,E11;I10,absent\nm,5,N18,present\nf,50,none,present\n")
    with site.mixers():
        done = site.doctor("north", "--data", table)
    assert done.exit_code == 0
    assert lines(done)["values beyond the bounds"].startswith("WARNING 1 values lie beyond")
    assert lines(done)["values that do not count"].startswith("WARNING 1 cells have more values than count: codes 1")


def test_a_missing_column_is_told_with_what_to_do(site: Site) -> None:
    done = site.doctor("north", "--data", site.table("sex,age,class\nf,40,absent\n"))
    assert "column 'chol' is missing. Add it. [E101]" in done.stdout


def test_a_table_without_rows_is_told(site: Site) -> None:
    done = site.doctor("north", "--data", site.table("sex,age,chol,class\n"))
    assert (done.exit_code, "there are no rows below the header" in done.stdout) == (6, True)


def test_more_rows_than_agreed_are_told(site: Site) -> None:
    few = site.agree(changed(heart(), (("dictionary", "max_rows"), 2)), "few.toml")
    done = site.doctor("north", "--data", site.table(), agreement=few)
    assert (done.exit_code, "it has 3 rows, a hospital may have 2" in done.stdout) == (6, True)
