"""What is drawn: the right numbers, the right way up, with labels that say which policy."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from synthetic import CELLS, MAP, write_run

from disdain.errors import UserError
from disdain.figures.four_rooms import example_seed, four_rooms
from disdain.figures.gaps import gap
from disdain.figures.learning_curves import report_curves
from disdain.figures.maps import bonus_scale, count_scale
from disdain.figures.names import MEASURES, short
from disdain.figures.reading import read_results
from disdain.figures.rollouts import last_visit, rollouts
from disdain.figures.seeds import every_seed
from disdain.figures.style import METHOD_COLOURS, WALL, colours, save
from disdain.figures.sweeps import CurvePanel, Panel, Series, sweep

WALLS = np.array([[mark == "#" for mark in row] for row in MAP])


@pytest.fixture(scope="module")
def whole(results):
    return four_rooms(results)


def titled(figure, start):
    return next(axes for axes in figure.get_axes() if axes.get_title("left").startswith(start))


def test_learning_curves_are_the_mean_of_the_better_half_and_dashed_of_all(whole, results):
    axes = titled(whole, "(a)")
    assert axes.get_ylabel() == "effective skills, training policy"
    assert axes.get_xlabel() == "learner updates"
    for name, run in (("DISDAIN", "disdain"), ("Unbonused", "unbonused")):
        values = results.curves(run, "skills_training").values
        best = np.sort(values[:, -1])[2:]
        top = values[np.isin(values[:, -1], best)]
        solid = next(line for line in axes.lines if line.get_label() == name)
        assert to_hex(solid.get_color()) == METHOD_COLOURS[run].lower()
        np.testing.assert_allclose(solid.get_ydata(), top.mean(0))
        dashed = [
            line for line in axes.lines if line.get_label() == "_all seeds" and line.get_color() == solid.get_color()
        ]
        np.testing.assert_allclose(dashed[0].get_ydata(), values.mean(0))
        bands = [c.get_paths()[0].vertices[:, 1].max() for c in axes.collections]
        assert np.any(np.isclose(bands, (top.mean(0) + top.std(0, ddof=1)).max()))
    ceiling = next(line for line in axes.lines if line.get_label() == "_ceiling")
    assert set(ceiling.get_ydata()) == {97.6}


def test_goal_reaching_ranks_seeds_by_their_skills(whole, results):
    axes = titled(whole, "(b)")
    best = np.argsort(-results.curves("count", "skills_training").final)[:2]
    drawn = next(line for line in axes.lines if line.get_label() == "Count")
    np.testing.assert_allclose(drawn.get_ydata(), results.curves("count", "goals_reached").values[best].mean(0))
    assert "greedy" in axes.get_title("left")


def test_the_maps_are_of_one_seed_at_five_points_walls_dark_first_line_on_top(whole, results):
    panels = [axes for axes in whole.get_axes() if axes.images]
    assert len(panels) == 15
    wanted = (("unbonused", "final_count"), ("disdain", "final_count"), ("disdain", "bonus"))
    for row, (run, measure) in enumerate(wanted):
        shots = results.snapshots(run, example_seed(results, run), measure)
        for axes, update, values in zip(panels[5 * row : 5 * row + 5], shots.updates, shots.maps, strict=True):
            assert axes.get_title() == f"\nupdate {short(float(update))}"
            image = axes.images[0]
            np.testing.assert_array_equal(np.ma.getmaskarray(image.get_array()), WALLS)
            np.testing.assert_array_equal(image.get_array().filled(np.nan), values)
            assert image.origin == "upper"
            assert axes.yaxis_inverted()
            assert to_hex(image.cmap.get_bad()) == WALL.lower()
            assert image.norm.vmax == panels[5 * row].images[0].norm.vmax  # one scale a row
    texts = [text.get_text() for axes in panels for text in axes.texts]
    assert [text[:3] for text in texts] == ["(c)", "(d)", "(e)"]
    assert all("greedy" in text for text in texts[:2])


def test_maps_of_points_that_only_one_run_kept_are_left_out(results, tmp_path):
    write_run(tmp_path / "disdain", "disdain", updates=20_000)
    write_run(tmp_path / "unbonused", "unbonused", updates=10_000)
    both = read_results(tmp_path)
    shared = sorted({500, 1000, 2500, 5000, 10000} & {500, 2000, 5000, 10000, 20000})
    assert [both.snapshots(run, 0, "bonus").updates.tolist() for run in ("unbonused", "disdain")] == [
        [500, 1000, 2500, 5000, 10000], [500, 2000, 5000, 10000, 20000]
    ]  # fmt: skip
    drawn = [axes.get_title() for axes in four_rooms(both).get_axes() if axes.images]
    assert drawn == [f"\nupdate {short(float(update))}" for update in shared] * 3


def test_the_example_is_the_seed_in_the_middle(results):
    final = results.curves("disdain", "skills_training").final
    assert final[example_seed(results, "disdain")] == np.sort(final)[2]


def test_rollouts_have_a_panel_a_skill_sorted_by_final_state(results):
    figure = rollouts(results, "disdain", seed=2)
    drawn = results.rollout("disdain", 2)
    panels = [axes for axes in figure.get_axes() if axes.images and axes.lines]
    assert len(panels) == len(drawn.skills) == 12
    ends = []
    for axes in panels:
        skill, sure = axes.get_title().split(": ")
        assert sure == f"{drawn.confidence[int(skill)]:.2f}"
        path, end = axes.lines
        np.testing.assert_array_equal(np.stack([path.get_ydata(), path.get_xdata()], -1), drawn.cells[int(skill)])
        ends.append(CELLS.index((end.get_ydata()[0], end.get_xdata()[0])))
        image = axes.images[0]
        shades = image.cmap(image.norm(image.get_array()))
        start = shades[drawn.cells[int(skill)][0][0], drawn.cells[int(skill)][0][1]]
        last = shades[drawn.cells[int(skill)][-1][0], drawn.cells[int(skill)][-1][1]]
        assert to_hex(last) == "#ffe94a"  # yellow at the end
        assert start[1] > start[0] or len(set(drawn.states[int(skill)])) == 1  # green at the start
        assert to_hex(shades[0, 0]) == WALL.lower()
    assert ends == sorted(ends)
    assert any("greedy rollouts of 12 skills, seed 2" in text.get_text() for text in figure.texts)


def test_last_visit_is_the_last():
    steps = last_visit(np.array([[0, 0], [0, 1], [0, 0]]), (2, 2))
    assert steps.tolist() == [[2, 1], [-1, -1]]


def test_every_seed_has_a_line(results):
    figure = every_seed(results)
    assert [axes.get_title("left").split(" (")[0] for axes in figure.get_axes()] == [
        "DISDAIN", "Count", "Ensemble only", "Unbonused"
    ]  # fmt: skip
    axes = figure.get_axes()[0]
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines if line.get_label().startswith("seed")}
    values = results.curves("disdain", "skills_training").values
    assert len(drawn) == 4
    for seed in range(4):
        np.testing.assert_array_equal(drawn[f"seed {seed}"], values[seed])
    assert axes.get_ylabel() == "effective skills, training policy"


def test_the_gap_figure_draws_truth_bound_and_gap_of_both_policies(results):
    figure = gap(results)
    panels = figure.get_axes()
    labels = [axes.get_ylabel() for axes in panels]
    assert [("training" in label, "greedy" in label) for label in labels] == [(True, False), (False, True)] * 2
    lines = {line.get_label(): line.get_ydata() for line in panels[1].lines}
    np.testing.assert_allclose(lines["disdain truth"], results.curves("disdain", "skills_greedy_true").values.mean(0))
    np.testing.assert_allclose(lines["disdain bound"], results.curves("disdain", "skills_greedy").values.mean(0))
    gaps = {line.get_label(): line.get_ydata() for line in panels[2].lines}
    np.testing.assert_allclose(gaps["count"], results.curves("count", "gap_training").values.mean(0))


def test_a_sweep_shows_means_intervals_and_seeds(results):
    panels = [
        Panel("Weight", "λ", (Series("a", "red", {1.0: "ensemble", 10.0: "disdain"}),), (("none", "k", "unbonused"),)),
        Panel("Words", "method", (Series("b", "blue", {"x": "count", "y": "disdain"}),)),
        Panel("Nothing", "λ", (Series("c", "blue", {}),)),
    ]
    figure = sweep(results, panels, [CurvePanel("Curves", {"one": "disdain", "two": "count"})], "skills_greedy")
    assert [axes.get_title("left") for axes in figure.get_axes()] == ["Weight", "Words", "Curves"]
    weight, words, curves = figure.get_axes()
    final = {run: results.curves(run, "skills_greedy").final for run in results.runs}
    means = weight.containers[0].lines[0].get_ydata()
    np.testing.assert_allclose(means, [final["ensemble"].mean(), final["disdain"].mean()])
    bar = weight.containers[0].lines[2][0].get_segments()[1][:, 1]
    reach = 3.182446 * final["disdain"].std(ddof=1) / 2  # Student's t, 3 degrees of freedom
    np.testing.assert_allclose(bar, [final["disdain"].mean() - reach, final["disdain"].mean() + reach], rtol=1e-5)
    assert [text.get_text() for text in weight.get_xticklabels()] == ["1", "10"]
    assert weight.get_xscale() == "log"
    assert [text.get_text() for text in words.get_xticklabels()] == ["x", "y"]
    np.testing.assert_allclose(curves.lines[0].get_ydata(), results.curves("disdain", "skills_greedy").values.mean(0))
    assert all("greedy" in axes.get_ylabel() for axes in figure.get_axes())


def test_report_curves_of_chosen_measures(results):
    figure = report_curves(results, ["skills_greedy", "goals_passed"])
    assert [axes.get_title("left") for axes in figure.get_axes()] == [
        "effective skills, greedy policy", "goals passed through, greedy policy"
    ]  # fmt: skip
    drawn = {line.get_label(): line.get_ydata() for line in figure.get_axes()[1].lines}
    np.testing.assert_allclose(drawn["count"], results.curves("count", "goals_passed").values.mean(0))
    with pytest.raises(UserError, match="no run has the measure 'skils'"):
        report_curves(results, ["skils"])


def test_one_seed_is_enough_for_every_figure(tmp_path):
    for method in ("disdain", "unbonused"):
        write_run(tmp_path / method, method, seeds=1, updates=1_000, every=1_000)
    alone = read_results(tmp_path)
    for figure in (four_rooms(alone), gap(alone), every_seed(alone), report_curves(alone), rollouts(alone, "disdain")):
        assert all(path.stat().st_size > 1000 for path in save(figure, tmp_path / "figures", "alone"))


def test_figures_are_written_as_png_and_svg_the_same_each_time(results, tmp_path):
    digests = []
    for place in ("a", "b"):
        png, svg = save(every_seed(results), tmp_path / place, "seeds")
        assert png.read_bytes().startswith(b"\x89PNG")
        assert svg.read_text().lstrip().startswith("<?xml")
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in (png, svg)])
    assert digests[0] == digests[1]


def test_measures_of_a_policy_say_which():
    assert all(("training policy" in label) != ("greedy policy" in label) for name, label in MEASURES.items()
               if not name.startswith("loss_"))  # fmt: skip


def test_count_colours_have_a_step_for_each_doubling():
    shades, norm, labels = count_scale(100)
    assert labels == ["0", "1", "2", "3–4", "5–8", "9–16", "17–32", "33–64", "65–128"]
    assert [labels[norm(count)] for count in (0, 1, 2, 3, 4, 5, 100)] == ["0", "1", "2", "3–4", "3–4", "5–8", "65–128"]
    assert to_hex(shades(norm(0))) == "#ffffff"
    assert to_hex(bonus_scale(0.7)[0](0.0)) == "#ffffff"


def test_runs_of_one_method_have_colours_of_their_own():
    chosen = colours(["a", "b", "c"], ["disdain", "disdain", "count"])
    assert chosen[0] == METHOD_COLOURS["disdain"]
    assert chosen[2] == METHOD_COLOURS["count"]
    assert len(set(colours([str(i) for i in range(7)], ["disdain"] * 7))) == 7


def test_drawing_needs_neither_jax_nor_a_display_nor_training():
    code = (
        "import sys, disdain.experiments.drawing, disdain.figures.four_rooms, disdain.figures.sweeps\n"
        "import disdain.figures.rollouts, disdain.figures.gaps, disdain.figures.seeds, disdain.figures.table\n"
        "bad = [m for m in sys.modules if m == 'jax' or m == 'matplotlib.pyplot' or m.startswith('disdain.training')]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
