"""Whether somebody was in the table: members stand nearer to released rows than others of their kind.

A person far from everybody is far from released rows too. So the distance to the nearest released row is compared with
that to the nearest other person of the population, whom an attacker may know as well (Hilprecht and others, 2019, use
the released rows alone). If the release says nothing about who was in, members and others have the same distances.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.people import Estimate, People, advantage, nearest
from mixbayes.local_methods.tables import Floats

SMALL = 1e-9


def membership(*releases: People) -> Estimate:
    """The advantage over a coin of somebody who bets on members, from one release or several of the same table."""
    scores = np.sum([scores_of(people) for people in releases], axis=0)
    members = releases[0].members.rows
    return advantage(scores[:members], scores[members:])


def scores_of(people: People) -> Floats:
    """Of members and of others: how much nearer the release is than the population."""
    members, others, released, _ = people.points()
    population = np.vstack([members, others])
    known = nearest(population, population, but_itself=True)
    return np.log(known + SMALL) - np.log(nearest(population, released) + SMALL)
