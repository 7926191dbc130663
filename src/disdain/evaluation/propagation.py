"""Where a policy's probability goes, move by move, in a world known by its table."""

import dataclasses
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer

from disdain.envs import Finite

UNROLLED = 16  # arrows into a state up to which their sum is written out, which is faster but more to compile


@dataclasses.dataclass(frozen=True, eq=False)
class Arrows:
    """The moves that lead into each state: D sources, each with the chance that an action leads from it to there.

    States with fewer than D sources are padded with arrows whose chance is 0.
    """

    source: Int[np.ndarray, "S D"]
    chance: Float[np.ndarray, "S D A"]

    def weights(
        self, greedy: Integer[Array, "policy S"], epsilon: Float[Array, "policy"]
    ) -> tuple[Float[Array, "S policy"], ...]:
        """(1 − ε) P(s'|s, greedy(s)) + ε/A Σ_a P(s'|s, a) for each of the D sources s of every s'."""
        chosen = greedy.T.astype(jnp.int32)
        weights = []
        for source, chance in zip(self.source.T, self.chance.transpose(1, 0, 2).astype(np.float32), strict=True):
            action = chosen.at[source].get(mode="promise_in_bounds")
            of_greedy = sum(jnp.where(action == a, chance[:, a, None], 0.0) for a in range(chance.shape[1]))
            weights.append((1.0 - epsilon) * of_greedy + epsilon * chance.mean(1)[:, None])
        return tuple(weights)

    def move(self, weights: tuple[Array, ...], mass: Float[Array, "S policy"]) -> Float[Array, "S policy"]:
        """p'(s') = Σ_d weight_d(s') · p(source_d(s'))."""
        pull = lambda source: mass.at[source].get(mode="promise_in_bounds")  # noqa: E731
        if len(weights) <= UNROLLED:
            return sum(
                (w * pull(source) for w, source in zip(weights, self.source.T, strict=True)), jnp.zeros_like(mass)
            )
        stacked = (jnp.stack(weights), jnp.asarray(self.source.T))
        return jax.lax.scan(lambda total, d: (total + d[0] * pull(d[1]), None), jnp.zeros_like(mass), stacked)[0]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Spread:
    """Where trajectories are: an ended one stays where it ended and makes no further move."""

    alive: Float[Array, "S policy"]
    ended: Float[Array, "S policy"]

    @property
    def total(self) -> Float[Array, "S policy"]:
        """p(s), ended or not."""
        return self.alive + self.ended


@dataclasses.dataclass(frozen=True, eq=False)
class Chain:
    """The Markov chains that policies make of a world."""

    world: Finite
    moves: int

    @cached_property
    def _going(self) -> Arrows:
        return _arrows(self.world, self.world.terminated == 0)

    @cached_property
    def _ending(self) -> Arrows | None:
        return _arrows(self.world, self.world.terminated) if self.world.may_terminate else None

    def propagate(
        self,
        start: Float[Array, "S"],
        greedy: Integer[Array, "policy S"],
        epsilon: Float[Array, "policy"],
        *,
        occupancy: bool = False,
    ) -> tuple[Float[Array, "S policy"], Float[Array, "S policy"]]:
        """The distribution of the final state, and with `occupancy` the expected number of moves that led to each
        state (else zeros), of each ε-greedy policy."""
        going, ending = self._weights(greedy, epsilon)

        def move(carry: tuple[Spread, Array], _: None) -> tuple[tuple[Spread, Array], None]:
            spread, visits = carry
            alive, ends = self._moved(going, ending, spread.alive)
            return (Spread(alive, spread.ended + ends), visits + alive + ends if occupancy else visits), None

        begin = jnp.broadcast_to(start[:, None], (self.world.num_states, len(greedy)))
        none = jnp.zeros_like(begin)
        (spread, visits), _ = jax.lax.scan(move, (Spread(begin, none), none), None, length=self.moves)
        return spread.total, visits

    def visits(self, start: Float[Array, "S"], greedy: Integer[Array, "policy S"]) -> Float[Array, "S policy"]:
        """The chance that each greedy policy visits each state at some time 0…T: S chains, each with one state that
        holds whatever arrives."""
        going, ending = self._weights(greedy, jnp.zeros((len(greedy),), jnp.float32))
        shape = (self.world.num_states, len(greedy))

        def visited(goal: Array) -> Float[Array, "policy"]:
            elsewhere = (jnp.arange(shape[0]) != goal)[:, None]

            def move(carry: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
                alive, hit = carry
                alive, ends = self._moved(going, ending, alive)
                return (alive * elsewhere, hit + alive[goal] + ends[goal]), None

            begin = jnp.broadcast_to(start[:, None], shape)
            carry = (begin * elsewhere, begin[goal])
            return jax.lax.scan(move, carry, None, length=self.moves)[0][1]

        return jnp.minimum(jax.lax.map(visited, jnp.arange(shape[0])), 1.0)

    def operations(self, policies: int) -> int:
        """Multiplications that `visits` takes."""
        arrows = self._going.source.size + (self._ending.source.size if self._ending else 0)
        return self.world.num_states * self.moves * arrows * policies

    def _weights(self, greedy: Array, epsilon: Array) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        return self._going.weights(greedy, epsilon), self._ending.weights(greedy, epsilon) if self._ending else ()

    def _moved(self, going: tuple[Array, ...], ending: tuple[Array, ...], alive: Array) -> tuple[Array, Array]:
        ends = self._ending.move(ending, alive) if self._ending else jnp.zeros_like(alive)
        return self._going.move(going, alive), ends


def _arrows(world: Finite, kind: Bool[np.ndarray, "S A K"]) -> Arrows:
    """The outcomes of one kind (those that end an episode, or the others), ordered by where they lead."""
    states, actions = world.num_states, world.num_actions
    source, action, outcome = np.nonzero(kind & (world.probability > 0))
    target = world.next_state[source, action, outcome].astype(np.int64)
    pair, arrow = np.unique(target * states + source, return_inverse=True)
    chance = np.zeros((len(pair), actions))
    np.add.at(chance, (arrow, action), world.probability[source, action, outcome])
    target, source = pair // states, pair % states
    place = np.arange(len(pair)) - np.searchsorted(target, target)  # of an arrow among those into the same state
    most = int(place.max(initial=0)) + 1
    arrows = Arrows(np.zeros((states, most), np.int32), np.zeros((states, most, actions)))
    arrows.source[target, place], arrows.chance[target, place] = source, chance
    return arrows
