"""`mixbayes federation` as it is typed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mixbayes.agreement.agreement import BadFederation, federation_from
from mixbayes.agreement.files import read_federation
from mixbayes.cli.app import app
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import BadData, DictionaryTooLarge, MixbayesError, Unsupported
from mixbayes.protocol.transfer.kinds import SILENT

THREE = ["--party", "cleveland", "--party", "hungarian", "--party", "va"]
MIXERS = ["--mixer", "a=127.0.0.1:4001", "--mixer", "b=127.0.0.1:4002"]
TWO = ["--party", "north=127.0.0.1:4001", "--party", "south"]


def federation(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["federation", *map(str, arguments)])


def error_of(result: Result) -> MixbayesError:
    assert isinstance(result.exception, MixbayesError), result.output
    return result.exception


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Thirty patients: a measurement with a small and a large value, a category, a number that is one, a class."""
    file = tmp_path / "table.csv"
    rows = [f"{0.25 + i},{'fm'[i % 2]},{i % 3},{'yes' if i % 5 else 'no'}" for i in range(30)]
    file.write_text("\n".join(["age,sex,grade,ill", *rows]) + "\n")
    return file


def new(
    folder: Path,
    table: Path,
    *more: object,
    members: list[str] = THREE + MIXERS,
    noise: tuple[object, ...] = ("--without-noise",),
) -> Result:
    return federation("new", folder, "--name", "heart", *members, "--like", table, *noise, *more)


def test_new_writes_what_show_shows(tmp_path: Path, table: Path) -> None:
    folder = tmp_path / "deep" / "heart"
    made = new(folder, table)
    assert (made.exit_code, made.stdout) == (0, "")
    agreed = read_federation(folder / "federation.toml")
    assert (agreed.name, agreed.protocol, agreed.names) == ("heart", "shares", ("cleveland", "hungarian", "va"))
    assert [mixer.address for mixer in agreed.mixers] == ["127.0.0.1:4001", "127.0.0.1:4002"]
    assert agreed.policy.minimum == 3
    assert agreed.dictionary.class_column == "ill"
    assert agreed.dictionary.attributes == (
        Gaussian(name="age", low=0.0, high=30.0),
        Nominal(name="sex", values=("f", "m")),
        Nominal(name="grade", values=("0", "1", "2")),
    )
    shown = federation("show", folder / "federation.toml")
    assert agreed.digest() in shown.stdout
    assert shown.stderr == ""
    for part in ("0.0 to 30.0", "f, m", "cleveland, hungarian, va", "a at 127.0.0.1:4001", "3 of 3 hospitals"):
        assert part in shown.stdout


def test_bounds_are_rounded_outwards_and_that_is_said(tmp_path: Path, table: Path) -> None:
    made = new(tmp_path / "heart", table)
    assert "Bounds are the table's own, rounded outwards, and cuts its quantiles, rounded: age." in made.stderr
    assert "Widen the bounds by hand" in made.stderr
    assert "rounded outwards" not in new(tmp_path / "other", table, "--nominal", "age", "--keep", "age").stderr


def test_next_steps_name_every_node(tmp_path: Path, table: Path) -> None:
    made = new(tmp_path / "heart", table)
    for word in ("party hungarian", "mixer b", "keys authority", "keys request", "keys sign", "federation show"):
        assert word in made.stderr


def test_a_wide_table_is_not_listed_whole(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    rows = [",".join([*(f"{i}.{j}5" for j in range(12)), "ab"[i % 2]]) for i in range(30)]
    wide.write_text("\n".join([",".join([*(f"c{j}" for j in range(12)), "class"]), *rows]) + "\n")
    assert "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more." in new(tmp_path / "heart", wide).stderr


def test_every_option_reaches_the_file(tmp_path: Path, table: Path) -> None:
    options = {
        "--minimum": 2,
        "--budget": 500,
        "--max-rows": 4096,
        "--timeout": 12.5,
        "--collect-hours": 0.5,
        "--rounds": 3,
        "--min-rows": 5,
        "--max-rows-each": 40,
        "--folds": 3,
        "--test-share": 0.1,
        "--transfers": "silent",
        "--recipe": "personal:prior=mixed:weight=2",
        "--smoothing": "1/2",
        "--class-column": "sex",
        "--nominal": "grade",
        "--bins": 4,
        "--numeric": "age",
    }
    assert new(tmp_path / "heart", table, *(word for pair in options.items() for word in pair)).exit_code == 0
    agreed = read_federation(tmp_path / "heart" / "federation.toml")
    assert agreed.policy.model_dump() == {
        "minimum": 2,
        "budget": 500,
        "timeout": 12.5,
        "collect_hours": 0.5,
        "rounds": 3,
        "min_rows": 5,
        "max_rows_each": 40,
        "folds": 3,
        "test_share": 0.1,
        "transfers": "silent",
    }
    assert agreed.recipes == ("personal:weight=2:prior=mixed",)
    shown = federation("show", tmp_path / "heart" / "federation.toml").stdout
    assert f"transfers:      {SILENT}\n" in shown
    dictionary = agreed.dictionary
    assert (str(dictionary.smoothing), dictionary.max_rows, dictionary.class_column) == ("1/2", 4096, "sex")
    assert [type(attribute) for attribute in dictionary.attributes] == [Binned, Nominal, Nominal]
    assert dictionary.attributes[0] == Binned(name="age", low=0.0, high=30.0, cuts=(7.5, 14.75, 22.0))


def test_two_hospitals_alone(tmp_path: Path, table: Path) -> None:
    assert new(tmp_path / "pair", table, "--protocol", "paillier", "--bins", 3, members=TWO).exit_code == 0
    agreed = read_federation(tmp_path / "pair" / "federation.toml")
    assert (agreed.protocol, agreed.two_party) == ("paillier", True)
    assert agreed.listener == agreed.party("north")
    assert "north at 127.0.0.1:4001, south" in federation("show", tmp_path / "pair" / "federation.toml").stdout


def test_show_json_is_the_agreement_with_its_digests(tmp_path: Path, table: Path) -> None:
    new(tmp_path, table)
    document = json.loads(federation("show", tmp_path / "federation.toml", "--json").stdout)
    agreed = read_federation(tmp_path / "federation.toml")
    assert document.pop("digest") == agreed.digest()
    assert document.pop("sections") == agreed.sections()
    assert (document.pop("cells"), document.pop("promise"), document.pop("keys")) == (26, None, {})
    assert federation_from(document) == agreed


def test_noise_is_agreed_and_told(tmp_path: Path, table: Path) -> None:
    made = new(tmp_path, table, "--rounds", 3, noise=("--epsilon", 4, "--release", "model"))
    assert made.exit_code == 0, made.output
    agreed = read_federation(tmp_path / "federation.toml")
    assert agreed.privacy
    assert (agreed.privacy.epsilon, agreed.privacy.delta, agreed.privacy.release) == (4.0, 1e-6, "model")
    assert (agreed.policy.min_rows, agreed.policy.budget) == (10, 100_000)
    shown = federation("show", tmp_path / "federation.toml").stdout
    deviation = f"a standard deviation of {Coins(agreed.privacy.coins).deviation:.4g}"
    together = f"epsilon {agreed.privacy.total_epsilon:g} at delta 3e-06 if there are all 3"
    for told in (made.stderr, shown):
        for part in (deviation, together, "epsilon 4 and delta 1e-06 a round", "one row more or less in one hospital"):
            assert part in told
    assert "release:        model" in shown
    document = json.loads(federation("show", tmp_path / "federation.toml", "--json").stdout)
    assert document["promise"]["noise"]["coins"] == list(agreed.privacy.coins)
    assert document["promise"]["spent"] <= 4.0
    assert document["promise"]["all_rounds"]["rounds"] == 3
    assert document["promise"]["all_rounds"]["epsilon"] <= agreed.privacy.total_epsilon


def test_totals_may_be_less_than_what_the_rounds_add_up_to(tmp_path: Path, table: Path) -> None:
    totals = ("--delta", 1e-7, "--total-epsilon", 5, "--total-delta", 1e-4)
    made = new(tmp_path, table, noise=("--epsilon", 4, *totals))
    agreed = read_federation(tmp_path / "federation.toml").privacy
    assert agreed
    assert (agreed.delta, agreed.total_epsilon, agreed.total_delta) == (1e-7, 5.0, 1e-4)
    assert "if there are all 10; 5 is allowed in all" in made.stderr


def test_what_is_copied_from_the_table_is_not_promised(tmp_path: Path, table: Path) -> None:
    made = new(tmp_path / "noisy", table, noise=("--epsilon", 4))
    assert "mixbayes: warning: the promise does not cover what the dictionary tells" in made.stderr
    assert "bounds and cut points of 'age'" in made.stderr
    assert "warning" not in new(tmp_path / "exact", table).stderr


def test_without_noise_the_budget_is_small_and_the_reason_is_told(tmp_path: Path, table: Path) -> None:
    made = new(tmp_path, table)
    agreed = read_federation(tmp_path / "federation.toml")
    assert (agreed.privacy, agreed.policy.budget) == (None, agreed.layout.size)
    for told in (made.stderr, federation("show", tmp_path / "federation.toml").stdout):
        assert f"whoever may ask about as many rows as there are cells, here {agreed.layout.size}," in told


@pytest.mark.parametrize(
    ("noise", "members", "said"),
    [
        ((), THREE + MIXERS, "Say either --epsilon E"),
        (("--epsilon", 1, "--without-noise"), THREE + MIXERS, "Say either --epsilon E"),
        (("--epsilon", 0), THREE + MIXERS, "An epsilon of 0 is not possible"),
        (("--epsilon", "nan"), THREE + MIXERS, "An epsilon of nan is not possible"),
        (("--epsilon", 4, "--delta", 1), THREE + MIXERS, "A delta of 1 is not possible"),
        (("--epsilon", 4, "--total-epsilon", 0.5), THREE + MIXERS, "One round costs epsilon"),
        (("--without-noise", "--total-epsilon", 4), THREE + MIXERS, "--total-epsilon is about noise"),
        (("--without-noise", "--total-delta", 0.1), THREE + MIXERS, "--total-delta is about noise"),
        (("--without-noise", "--release", "model"), THREE + MIXERS, "--release model is about noise"),
        (("--without-noise", "--min-rows", 9, "--max-rows-each", 8), THREE + MIXERS, "9 patients are needed, and 8"),
    ],
)
def test_noise_has_to_be_decided(
    tmp_path: Path, table: Path, noise: tuple[object, ...], members: list[str], said: str
) -> None:
    error = error_of(new(tmp_path / "heart", table, noise=noise, members=members))
    assert (type(error), error.exit_code) == (Unsupported, 2)
    assert said in str(error)
    assert not (tmp_path / "heart").exists()


def test_show_refuses_noise_that_does_not_keep_the_promise(tmp_path: Path, table: Path) -> None:
    new(tmp_path, table, noise=("--epsilon", 4))
    file = tmp_path / "federation.toml"
    file.write_text(file.read_text().replace("epsilon = 4.0", "epsilon = 3.0", 1))
    error = error_of(federation("show", file))
    assert "privacy.coins: at delta 1e-06 they give epsilon" in str(error)


def test_shown_text_cannot_move_the_cursor(tmp_path: Path, table: Path) -> None:
    new(tmp_path, table)
    file = tmp_path / "federation.toml"
    file.write_text(file.read_text().replace('["f", "m"]', r'["f\u001b[2J", "m\ndigest: 0"]'))
    shown = federation("show", file).stdout
    assert "\x1b" not in shown
    assert "\ndigest: 0" not in shown


def test_an_agreement_is_never_overwritten(tmp_path: Path, table: Path) -> None:
    new(tmp_path, table)
    before = (tmp_path / "federation.toml").read_bytes()
    error = error_of(new(tmp_path, table, "--budget", 7))
    assert (type(error), error.exit_code) == (BadData, 6)
    assert "federation.toml is there already and stays as it is" in str(error)
    assert (tmp_path / "federation.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("members", "more", "said"),
    [
        (["--party", "a", "--party", "va", *MIXERS], [], "parties['a'].name: a mixer has it"),
        (["--party", "VA", "--party", "va", *MIXERS], [], "parties['VA'].name: 'VA' cannot be a node's name"),
        (["--party", "va", *MIXERS], [], "a federation needs two parties"),
        ([*THREE, *MIXERS[:2]], [], "mixers: there must be two mixers, a and b, or none; here: a"),
        ([*THREE, "--mixer", "a", "--mixer", "b=h:1"], [], "mixers['a'].address: it is missing"),
        ([*THREE, *MIXERS, "--party", "x="], [], "parties['x'].address: '' is not HOST:PORT"),
        (THREE, [], "without mixers there must be exactly two parties, here are 3"),
        ([*TWO[:2], "--party", "south=h:1"], [], "without mixers exactly one party has an address"),
        ([*THREE, *MIXERS], ["--minimum", "4"], "policy.minimum: 4 hospitals are needed, 3 are listed"),
        ([*THREE, *MIXERS], ["--timeout", "0"], "policy.timeout: Input should be greater than 0"),
        ([*THREE, *MIXERS], ["--protocol", "paillier", "--bins", "3"], "paillier works between two hospitals"),
        (
            TWO,
            ["--protocol", "paillier"],
            "paillier takes no attributes of kind numeric; agree on a binned attribute (--bins N), or on shares",
        ),
    ],
)
def test_options_that_contradict_are_wrong_usage(
    tmp_path: Path, table: Path, members: list[str], more: list[str], said: str
) -> None:
    error = error_of(new(tmp_path / "heart", table, *more, members=members))
    assert (type(error), error.exit_code) == (Unsupported, 2)
    assert said in str(error)
    assert not (tmp_path / "heart").exists()


@pytest.mark.parametrize("option", ["--minimum", "--budget", "--max-rows", "--rounds", "--bins", "--smoothing"])
@pytest.mark.parametrize("number", ["0", "-1", "nan", "many"])
def test_numbers_that_are_none_are_wrong_usage(tmp_path: Path, table: Path, option: str, number: str) -> None:
    assert new(tmp_path / "heart", table, option, number).exit_code == 2


def test_a_table_that_cannot_be_used_is_bad_data(tmp_path: Path, table: Path) -> None:
    error = error_of(new(tmp_path / "heart", tmp_path / "none.csv"))
    assert (type(error), error.exit_code) == (BadData, 6)
    assert "none.csv cannot be read" in str(error)
    error = error_of(new(tmp_path / "heart", table, "--max-rows", 20))
    assert "30 rows, the agreed maximum is 20" in str(error)


@pytest.mark.parametrize("gap", ["P29", ""])
def test_names_of_patients_stay_out_of_the_agreement_unless_they_are_asked_for(tmp_path: Path, gap: str) -> None:
    table = tmp_path / "table.csv"
    numbers = [*(f"P{i}" for i in range(29)), gap]
    table.write_text("\n".join(["id,sex,ill", *(f"{n},{'fm'[i % 2]},{i % 2}" for i, n in enumerate(numbers))]) + "\n")
    error = error_of(new(tmp_path / "heart", table))
    assert (type(error), error.exit_code) == (BadData, 6)
    assert "column 'id' has many values that only one row has" in str(error)
    assert not (tmp_path / "heart").exists()
    assert new(tmp_path / "heart", table, "--keep", "id").exit_code == 0


def test_few_values_or_repeated_ones_are_no_names_of_patients(tmp_path: Path) -> None:
    for values in ([f"v{i}" for i in range(20)], [f"v{i % 25}" for i in range(50)]):
        table = tmp_path / f"{len(values)}.csv"
        table.write_text("\n".join(["ward,ill", *(f"{v},{i % 2}" for i, v in enumerate(values))]) + "\n")
        assert new(tmp_path / f"of {len(values)}", table).exit_code == 0


def test_a_folder_that_cannot_be_made(tmp_path: Path, table: Path) -> None:
    error = error_of(new(table / "heart", table))
    assert (type(error), error.exit_code) == (BadData, 6)
    assert "cannot be made: Not a directory" in str(error)


def test_what_does_not_fit_a_key_is_refused_before_anybody_signs(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join(",".join([*(f"{cells}{i}" for i in range(99)), cells]) for cells in ["x", "y", "z"]))
    error = error_of(new(tmp_path / "pair", wide, "--protocol", "paillier", members=TWO))
    assert isinstance(error, DictionaryTooLarge)
    assert not (tmp_path / "pair").exists()


def test_show_names_what_is_wrong(tmp_path: Path, table: Path) -> None:
    new(tmp_path, table)
    file = tmp_path / "federation.toml"
    file.write_text(file.read_text().replace("minimum = 3", "minimum = 4\nmaximum = 5"))
    error = error_of(federation("show", file))
    assert (type(error), error.exit_code) == (BadFederation, 6)
    assert f"{file}: The agreement is not valid:\n  policy.maximum: there is no such field" in str(error)


@pytest.mark.parametrize("command", ["new", "show"])
def test_help_has_examples(command: str) -> None:
    assert f"mixbayes federation {command} " in federation(command, "--help").stdout


@pytest.mark.real_tables
@pytest.mark.parametrize("name", ["heart4/cleveland.csv", "heart4/hungarian.csv"])
def test_real_tables_make_agreements(tmp_path: Path, name: str) -> None:
    table = Path(os.environ["MIXBAYES_DATA"]) / name
    assert new(tmp_path, table).exit_code == 0
    assert federation("show", tmp_path / "federation.toml").exit_code == 0


def test_a_joint_test_is_agreed_and_told(tmp_path: Path, table: Path) -> None:
    aside = ("--test-share", 0.2, "--max-rows-each", 500)
    made = new(tmp_path, table, *aside, noise=("--epsilon", 4))
    assert made.exit_code == 0, made.output
    agreed = read_federation(tmp_path / "federation.toml")
    assert agreed.privacy
    assert agreed.privacy.test_epsilon == 2.0
    deviation = f"a standard deviation of {Coins(agreed.privacy.test_coins).deviation:.4g}"
    shown = federation("show", tmp_path / "federation.toml").stdout
    for told in (made.stderr, shown):
        assert "epsilon 2 and delta 1e-06 for the joint test of a round" in told
        assert deviation in told
    document = json.loads(federation("show", tmp_path / "federation.toml", "--json").stdout)
    assert document["promise"]["joint_test"]["spent"] <= 2.0


@pytest.mark.parametrize(
    ("noise", "more", "said"),
    [
        (("--epsilon", 4), ("--test-epsilon", 1), "patients kept aside with mixers"),
        (("--without-noise",), ("--test-share", 0.2, "--test-epsilon", 1), "--test-epsilon is about noise"),
    ],
)
def test_a_promise_of_no_joint_test_is_refused(
    tmp_path: Path, table: Path, noise: tuple[object, ...], more: tuple[object, ...], said: str
) -> None:
    made = new(tmp_path, table, *more, noise=noise)
    assert isinstance(made.exception, Unsupported)
    assert said in str(made.exception)


def test_two_hospitals_without_noise_are_told_that_there_is_no_joint_test(tmp_path: Path, table: Path) -> None:
    assert (
        "Rounds of fewer than 3 hospitals have no joint test"
        in new(tmp_path, table, "--test-share", 0.2, "--minimum", 2).stderr
    )


def test_new_agrees_on_keys_or_warns(tmp_path: Path, table: Path) -> None:
    warning = "keys of mixers are not pinned: whoever holds the authority's key can pose as both"
    bare = new(tmp_path / "bare", table)
    assert warning in bare.stderr
    assert "mixbayes federation pin" in bare.stderr
    keys = ("--key", f"a={'ab' * 32}", "--key", f"b={'CD:' * 31}CD", "--key", f"va={'12' * 32}")
    made = new(tmp_path / "pinned", table, *keys)
    assert (made.exit_code, warning in made.stderr) == (0, False), made.output
    agreed = read_federation(tmp_path / "pinned" / "federation.toml")
    assert agreed.key_of("a") == ":".join(["AB"] * 32)
    assert [agreed.key_of(name) is None for name in ("b", "va", "cleveland")] == [False, False, True]
    error = error_of(new(tmp_path / "x", table, "--key", f"x={'ab' * 32}"))
    assert "no member of that name" in str(error)
    assert not (tmp_path / "x").exists()


def test_what_it_costs_on_a_link_is_said_in_one_line(tmp_path: Path, table: Path) -> None:
    *_, said = new(tmp_path / "heart", table, "--bins", "3", "--delay", "40", "--rate", "20").stderr.splitlines()
    assert said.startswith("Over links of 40 ms one way and 20 Mbit/s each way a training takes about ")
    assert "private question about 1 row" in said
    assert "about 1,000 rows" in said
    assert "Over links" not in new(tmp_path / "other", table).stderr


def test_a_link_without_mixers_is_refused_before_anything_is_written(tmp_path: Path, table: Path) -> None:
    error = error_of(new(tmp_path / "pair", table, "--delay", "40", members=TWO))
    assert isinstance(error, Unsupported)
    assert "two hospitals alone have none" in str(error)
    assert not (tmp_path / "pair").exists()
