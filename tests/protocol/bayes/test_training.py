import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import training
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.training import run_training
from tests.protocol.pairs import SEEDS, layout_of, random_counts, seed

SEEDS_OF_ROLES = seed(1), seed(2), seed(3)


def assert_trained(models: tuple[Model, Model], layout: Layout, vector: Words) -> None:
    """The shares add up to the table of the joint counts, bit for bit."""
    joint, (of_a, of_b) = fixed_model(layout, vector), models
    assert of_a.width == of_b.width == joint.width
    assert ((of_a.prior + of_b.prior) & mask(joint.width)).tolist() == joint.prior.tolist()
    for part_a, part_b, table in zip(of_a.tables, of_b.tables, joint.tables, strict=True):
        assert ((part_a + part_b) & mask(joint.width)).tolist() == table.tolist()


def hospitals(layout: Layout, rng: np.random.Generator, count: int, rows: int) -> list[Words]:
    """Each hospital's counts, some hospitals without patients."""
    return [random_counts(layout, rng, int(r)) for r in rng.multinomial(rows, rng.dirichlet([0.5] * count))]


@pytest.mark.usefixtures("dealt_base_transfers")
@given(
    st.integers(2, 8),
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
    st.integers(1, 5),
    st.one_of(st.integers(0, 9), st.integers(0, 2**40)),
    st.sampled_from(["1", "1/2", "0.01", "1000"]),
    SEEDS,
)
@settings(max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_shares_add_up_to_the_table_of_the_joint_counts(
    classes: int, sizes: list[int], parties: int, rows: int, smoothing: str, number: int
) -> None:
    layout = layout_of(classes, sizes, smoothing=smoothing)
    tables = hospitals(layout, np.random.default_rng(number), parties, rows)
    models = run_training(layout, tables, (seed(number), seed(number + 1), seed(number + 2)))
    assert_trained(models, layout, np.array(tables).sum(axis=0))


@pytest.mark.parametrize(("classes", "sizes"), [(26, [3, 4]), (2, [1000]), (3, [2] * 100)])
def test_large_dictionaries(classes: int, sizes: list[int]) -> None:
    layout = layout_of(classes, sizes)
    tables = hospitals(layout, np.random.default_rng(1), 3, 2**40)
    assert_trained(run_training(layout, tables, SEEDS_OF_ROLES), layout, np.array(tables).sum(axis=0))


@pytest.mark.parametrize("cells", [1, 7, 50])
def test_logarithms_taken_in_several_goes(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_CELLS", cells)
    layout = layout_of(3, [2, 4])
    tables = hospitals(layout, np.random.default_rng(1), 2, 10**6)
    assert_trained(run_training(layout, tables, SEEDS_OF_ROLES), layout, np.array(tables).sum(axis=0))


def test_no_patient_at_all() -> None:
    layout = layout_of(3, [2, 4])
    nobody = np.zeros(layout.size, np.uint64)
    assert_trained(run_training(layout, [nobody, nobody], SEEDS_OF_ROLES), layout, nobody)


def test_it_does_not_matter_how_patients_are_spread() -> None:
    layout = layout_of(3, [2, 4])
    tables = hospitals(layout, np.random.default_rng(1), 4, 10**6)
    joint = np.array(tables).sum(axis=0)
    for spread in (tables, [joint], [joint, joint * 0], [tables[0], *tables[1:][::-1]]):
        assert_trained(run_training(layout, spread, SEEDS_OF_ROLES), layout, joint)


def test_same_seeds_give_the_same_shares_and_others_others() -> None:
    layout = layout_of(2, [3])
    tables = hospitals(layout, np.random.default_rng(1), 2, 100)
    (once, _), (again, _) = (run_training(layout, tables, SEEDS_OF_ROLES) for _ in range(2))
    assert once.tables[0].tolist() == again.tables[0].tolist()
    for role in range(3):
        seeds = [*SEEDS_OF_ROLES]
        seeds[role] = seed(9)
        other, _ = run_training(layout, tables, (seeds[0], seeds[1], seeds[2]))
        assert (other.tables[0][:-1] != once.tables[0][:-1]).all()


def test_missing_has_no_weight_for_either_party() -> None:
    layout = layout_of(3, [2, 4])
    tables = hospitals(layout, np.random.default_rng(1), 2, 100)
    for model in run_training(layout, tables, SEEDS_OF_ROLES):
        assert not any(table[-1].any() for table in model.tables)


def test_model_does_not_show_its_numbers() -> None:
    layout = layout_of(2, [3])
    model, _ = run_training(layout, [random_counts(layout, np.random.default_rng(1), 9)], SEEDS_OF_ROLES)
    assert str(model.prior[0]) not in repr(model)
