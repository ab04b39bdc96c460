import pytest

from mixbayes.agreement.names import checked_name


@pytest.mark.parametrize("name", ["a", "7", "va", "st.mary-2_x", "x" * 63, "1.2a"])
def test_names_of_nodes(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-n",
        "n-",
        ".n",
        "n.",
        "_n",
        "a..b",
        "x" * 64,
        "North",
        "nörd",
        "a b",
        "a/b",
        "../a",
        "a\n",
        "*.org",
        "10.0.0.1",
        "1.2",
        "authority",
    ],
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a node's name"):
        checked_name(name)
