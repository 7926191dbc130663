"""The fused runner: blocks of updates and an evaluation in one compiled program, many seeds and runs side by side.

On CPU each core is a device with its own lanes (a lane is one seed of one run), a few at a time, so that their
tables stay in the core's cache. On an accelerator all lanes go at once.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int

from disdain.agents.learning import Rates
from disdain.config import BLOCK
from disdain.training.collecting import Noise
from disdain.training.parts import Parts, Training

# Wide vectors halve the cost of the exponentials; the option is ignored where it means nothing.
CPU_OPTIONS = {"xla_cpu_prefer_vector_width": "512"}
LARGEST_GROUP = 10
# Where lanes stand in the noise of a block [update, ...]: behind the moves, so that each move's are found together.
NOISE_AXES = (Noise(skill=1, start=1, move=2), 1)  # type: ignore[arg-type]


class FusedRunner:
    """Trains `lanes` agents of one kind. `rates` has one entry a lane; so has `seeds`."""

    def __init__(self, parts: Parts, rates: Rates, seeds: Sequence[int]) -> None:
        self.parts, self.lanes, self.seeds = parts, len(seeds), tuple(seeds)
        devices = jax.devices()
        self._on_cpu = on_cpu = devices[0].platform == "cpu"
        self.group = group_size(self.lanes, len(devices)) if on_cpu else self.lanes
        groups = -(-self.lanes // self.group)
        used = min(len(devices), groups) if on_cpu else 1
        self.padded = -(-groups // used) * used * self.group
        self._mesh = Mesh(np.array(devices[:used]), ("lane",))
        self._sharding = NamedSharding(self._mesh, PartitionSpec("lane"))
        self._rates = self._place(jax.tree.map(np.asarray, rates))
        keys = jax.vmap(jax.random.key)(jnp.asarray(self._pad(np.asarray(seeds, np.uint32))))
        self._keys = jax.device_put(keys, self._sharding)
        options = CPU_OPTIONS if on_cpu else None
        program = functools.partial(jax.jit, compiler_options=options)
        self._init = program(self._on_devices(self._init_group))
        self._advance = program(self._on_devices(self._advance_group, scalars=2), donate_argnums=0)
        self._refill = program(self._on_devices(self._refill_group, scalars=1), donate_argnums=0)
        self._snapshot = program(self._on_devices(self._snapshot_group))

    def init(self) -> Training:
        """Every lane before its first update."""
        return self._init(self._keys, self._keys, self._rates)

    def advance(self, training: Training, start: int, updates: int) -> tuple[Training, dict[str, np.ndarray]]:
        """Train from update `start` on, then evaluate: measures by name, one number a lane. Consumes `training`."""
        if start % BLOCK or updates % BLOCK:
            raise ValueError(f"start {start} and updates {updates} must be multiples of {BLOCK}")
        blocks = jnp.int32(start // BLOCK), jnp.int32(updates // BLOCK)
        training, measures = self._advance(training, self._keys, self._rates, *blocks)
        return training, {name: np.asarray(value)[: self.lanes] for name, value in measures.items()}

    def refill(self, training: Training, pushes: int) -> Training:
        """Fill the replay with unrolls of the present policy, without learning. Consumes `training`."""
        return self._refill(training, self._keys, self._rates, jnp.int32(pushes))

    def snapshot(self, training: Training) -> dict[str, np.ndarray]:
        """What maps and rollouts are drawn from, for every lane."""
        arrays = self._snapshot(training, self._keys, self._rates)
        return {name: np.asarray(value)[: self.lanes] for name, value in arrays.items()}

    def to_host(self, training: Training) -> Training:
        """NumPy arrays with exactly one entry a lane."""
        return jax.tree.map(lambda leaf: np.asarray(leaf)[: self.lanes], training)

    def from_host(self, training: Training) -> Training:
        """Back onto the devices."""
        return self._place(training)

    def _init_group(self, keys: Array, _: Array, rates: Rates) -> Training:
        return jax.vmap(self.parts.init)(keys, rates)

    def _advance_group(
        self, training: Training, keys: Array, rates: Rates, first: Int[Array, ""], blocks: Int[Array, ""]
    ) -> tuple[Training, dict[str, Array]]:
        parts = self.parts

        def block(number: Int[Array, ""], training: Training) -> Training:
            noise = jax.vmap(parts.block_noise, in_axes=(0, None), out_axes=NOISE_AXES)(keys, number)
            numbers = number * BLOCK + jnp.arange(BLOCK)

            def one(training: Training, xs: tuple[Any, Array]) -> tuple[Training, None]:
                axes = jax.tree.map(lambda axis: axis - 1, NOISE_AXES)
                return jax.vmap(parts.step, in_axes=(0, 0, axes, None))(training, rates, *xs), None

            return jax.lax.scan(one, training, (noise, numbers))[0]

        training = jax.lax.fori_loop(first, first + blocks, block, training)
        if self._on_cpu:  # one by one: a sum's last bit can depend on what is summed beside it
            return jax.lax.map(lambda lane: parts.evaluate(lane[0], lane[1], blocks * BLOCK), (training, rates))
        return jax.vmap(parts.evaluate, in_axes=(0, 0, None))(training, rates, blocks * BLOCK)

    def _refill_group(self, training: Training, keys: Array, rates: Rates, pushes: Int[Array, ""]) -> Training:
        def push(number: Int[Array, ""], training: Training) -> Training:
            return jax.vmap(self.parts.refill, in_axes=(0, 0, 0, None))(training, rates, keys, number)

        return jax.lax.fori_loop(0, pushes, push, training)

    def _snapshot_group(self, training: Training, keys: Array, rates: Rates) -> dict[str, Array]:
        return jax.vmap(self.parts.snapshot)(training)

    def _on_devices(self, function: Any, scalars: int = 0) -> Any:
        """Run `function` on every device's own lanes, a group at a time."""

        def local(lanes: Any, keys: Array, rates: Rates, *rest: Array) -> Any:
            here = keys.shape[0]
            if here == self.group:
                return function(lanes, keys, rates, *rest)
            split = lambda leaf: leaf.reshape((here // self.group, self.group, *leaf.shape[1:]))  # noqa: E731
            out = jax.lax.map(lambda group: function(*group, *rest), jax.tree.map(split, (lanes, keys, rates)))
            return jax.tree.map(lambda leaf: leaf.reshape((here, *leaf.shape[2:])), out)

        lane, everywhere = PartitionSpec("lane"), PartitionSpec()
        specs = (lane, lane, lane, *([everywhere] * scalars))
        return jax.shard_map(local, mesh=self._mesh, in_specs=specs, out_specs=lane, check_vma=False)

    def _pad(self, leaf: np.ndarray) -> np.ndarray:
        extra = self.padded - leaf.shape[0]
        return np.concatenate([leaf, np.repeat(leaf[-1:], extra, axis=0)]) if extra else leaf

    def _place(self, tree: Any) -> Any:
        return jax.tree.map(lambda leaf: jax.device_put(self._pad(leaf), self._sharding), tree)


def group_size(lanes: int, cores: int) -> int:
    """Lanes that a core trains at a time: its share, in as few groups of about equal size as keep within ten.

    More would not fit the core's cache, fewer cost launches. A lane computes the same bits in a group of any size but
    one, so a lone lane is padded to two.
    """
    share = -(-lanes // cores)
    groups = -(-share // LARGEST_GROUP)
    return max(2, -(-share // groups))


def stack_rates(rates: Sequence[Rates]) -> Rates:
    """One entry a lane."""
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *rates)
