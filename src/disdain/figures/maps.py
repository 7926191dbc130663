"""Grid maps: something about every state of a grid world, walls drawn dark, the map's first line on top."""

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, Colormap, LinearSegmentedColormap, ListedColormap, Normalize
from matplotlib.image import AxesImage

from disdain.figures.style import FLOOR, WALL


def count_scale(most: int) -> tuple[Colormap, BoundaryNorm, list[str]]:
    """Colours for counts: one for 0, 1, 2, then for each doubling (3–4, 5–8, …) up to `most`; and their labels."""
    edges, labels = [0, 1, 2], ["0", "1"]
    while edges[-1] <= most:
        low, high = edges[-1], 2 * (edges[-1] - 1)
        high = max(high, low)
        labels.append(str(low) if low == high else f"{low}–{high}")
        edges.append(high + 1)
    viridis = mpl.colormaps["viridis_r"]
    shades = [FLOOR, *viridis(np.linspace(0.08, 1.0, len(labels) - 1))]
    colours = ListedColormap(shades, name="counts").with_extremes(bad=WALL)
    return colours, BoundaryNorm(edges, len(labels)), labels


def bonus_scale(most: float) -> tuple[Colormap, Normalize]:
    """Colours for a bonus in [0, most]: no bonus is floor."""
    warm = mpl.colormaps["inferno_r"]
    shades = [FLOOR, *warm(np.linspace(0.04, 0.88, 60))]
    colours = LinearSegmentedColormap.from_list("bonus", shades).with_extremes(bad=WALL)
    return colours, Normalize(0.0, max(most, 1e-9))


def draw_map(axes: Axes, values: Float[np.ndarray, "row column"], colours: Colormap, norm: Normalize) -> AxesImage:
    """One map; NaN is a wall."""
    image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, origin="upper", interpolation="nearest")
    bare(axes, values.shape)
    return image


def bare(axes: Axes, shape: tuple[int, ...]) -> None:
    """No ticks, no frame; thin lines between the cells."""
    axes.grid(visible=False)
    axes.set_xticks(np.arange(0.5, shape[1] - 1), minor=True)
    axes.set_yticks(np.arange(0.5, shape[0] - 1), minor=True)
    axes.grid(visible=True, which="minor", color="#C9CED4", linewidth=0.25)
    axes.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
