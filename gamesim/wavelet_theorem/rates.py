"""Claim 2, rates: swap regret grows at most as √T, and more slowly where learning is possible.

With a gap of √(1/T), every learner, even uniform play, has regret of order √T. That instance is only a control.
"""

from pathlib import Path

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.measure import regrets
from gamesim.study.results import Results
from gamesim.wavelet_theorem.adversaries import EDGE, FIXED, GAP, INSTANCES, suffered
from gamesim.wavelet_theorem.comparisons import Comparison, compare, holm, p_value
from gamesim.wavelet_theorem.instances import (
    LEARNERS,
    OPTIMISTIC,
    PREDICTIVE,
    RIVALS,
    SEEDS,
    SMALL_SEEDS,
    UNIFORM,
    WAVELETS,
    YARDSTICKS,
    seed_of,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import (
    SMALLEST,
    draw_line,
    exponent,
    exponents,
    listed,
    log_axes,
    median_ratio,
    said,
    table,
)

NAME = "rates"
TITLE = "Swap regret grows no faster than √T, and more slowly where it can"
ACTIONS = 8
FULL = tuple(2**k for k in (10, 12, 14, 16))
SMALL = tuple(2**k for k in (8, 10, 12))
EVERYONE = {**LEARNERS, **YARDSTICKS}
SIZES = (8, 16, 32, 64)  # for the table of declared bounds


def points(small: bool) -> list[Point]:
    """Return all points."""
    return [
        Point(NAME, {"instance": instance, "d": ACTIONS, "T": rounds}, seed)
        for rounds in (SMALL if small else FULL)
        for instance in INSTANCES
        for seed in (SMALL_SEEDS if small else SEEDS)
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Return the swap regret of every learner against one adversary."""
    instance, d, rounds = labels["instance"], labels["d"], labels["T"]
    chance = seed_of(seed, instance, d, rounds)
    return {
        name: float(regrets.swap(suffered(make(), instance, d, rounds, chance))) for name, make in EVERYONE.items()
    }  # fmt: skip


def cells(results: Results) -> list[Labels]:
    """Return the cells that are counted: all instances but the control, with the most rounds."""
    rounds = max(results.labels("T"))
    return [{"instance": one, "T": rounds} for one in results.labels("instance") if one != EDGE]


def compared(results: Results) -> list[Comparison]:
    """Compare the flagship with its rivals in the cells that are counted."""
    return compare(results, OPTIMISTIC, RIVALS, cells(results))


def slopes(results: Results, learner: str, instance: str) -> dict[int, float]:
    """Return the exponents of swap regret in T by seed."""
    return exponents(results, learner, "T", sorted(results.labels("T")), {"instance": instance})


def too_fast(results: Results) -> list[str]:
    """Return where a wavelet learner's regret grows significantly faster than √T; all tests are one family."""
    tests = {
        (name, instance): p_value(list(slopes(results, name, instance).values()), 0.5, "greater")
        for name in WAVELETS
        for instance in results.labels("instance")
    }
    rejected = holm(list(tests.values()))
    return [f"`{name}` ({instance})" for (name, instance), one in zip(tests, rejected, strict=True) if one]


def slow(results: Results) -> bool:
    """Return whether all wavelet learners grow significantly more slowly than √T with a fixed gap."""
    return all(
        holm([p_value(list(slopes(results, name, FIXED).values()), 0.5, "less") for name in WAVELETS])
    )  # fmt: skip


def holds(results: Results) -> bool:
    """Return whether no wavelet learner is too fast, and all are slow where they can be."""
    return not too_fast(results) and slow(results)


def first_rounds(learner: str, actions: int) -> int | None:
    """Return the first power of two at which the declared bound on swap regret is below the number of rounds."""
    for power in range(1, 41):
        promise = EVERYONE[learner]().with_horizon(2**power).guarantee()
        if promise is not None and promise.regret == "swap" and promise.bound(2**power, actions) < 2**power:
            return 2**power
    return None


def paragraph(results: Results) -> str:
    """State what was found."""
    rounds = max(results.labels("T"))
    fast = too_fast(results)

    def power(name: str, instance: str) -> str:
        return said(exponent(results, name, "T", sorted(results.labels("T")), {"instance": instance}))

    promise = LEARNERS[OPTIMISTIC]().guarantee()
    assert promise is not None
    bound = promise.bound(rounds, ACTIONS)
    shares = [
        one.value / bound for cell in cells(results) if (one := results.mean(OPTIMISTIC, **cell)) is not None
    ]  # fmt: skip
    reached = f"below T from T = {said(first_rounds(OPTIMISTIC, ACTIONS))}"
    return (
        f"At d = {ACTIONS} we let T grow to {rounds:,} on four instances and a control. With a fixed gap of {GAP}, the "
        f"swap regret of `{OPTIMISTIC}` grows as T to the power {power(OPTIMISTIC, FIXED)}; that of {PREDICTIVE} as "
        f"{power(PREDICTIVE, FIXED)}, and of uniform play as {power(UNIFORM, FIXED)}. Against the adaptive adversary, "
        f"which maximises swap regret one round ahead, the power is {power(OPTIMISTIC, 'adaptive')}; on the "
        f"lower-bound construction, {power(OPTIMISTIC, 'live pairs')}; when the best action shifts, "
        f"{power(OPTIMISTIC, 'shifting')}. Growth significantly faster than √T: {listed(fast)}. In the control, with "
        f"a gap of order √(1/T), even uniform play has power {power(UNIFORM, EDGE)}, so slopes there mean nothing. The "
        f"median ratio to the best rival's regret is {said(median_ratio(results, OPTIMISTIC, RIVALS, cells(results)))}. "
        f"The declared bound is {reached}; at T = {rounds:,} it is {said(bound)}, and measured regret is at most "
        f"{said(max(shares))} of it."
    )


def tables(results: Results) -> list[str]:
    """Return the tables of the appendix."""
    rounds = max(results.labels("T"))
    found = results.labels("instance")
    return [
        table(
            f"d = {ACTIONS}, T = {rounds:,}: swap regret",
            ["", *found],
            [[name, *(said(results.mean(name, instance=one, T=rounds)) for one in found)] for name in EVERYONE],
        ),
        table(
            f"d = {ACTIONS}: exponent of swap regret in T, from T = {min(results.labels('T')):,} to {rounds:,}",
            ["", *found],
            [
                [
                    name,
                    *(said(exponent(results, name, "T", sorted(results.labels("T")), {"instance": i})) for i in found),
                ]
                for name in EVERYONE
            ],
        ),
        table(
            "First power of two T at which the declared bound on swap regret is below T; – if it never is, up to 2⁴⁰",
            ["", *(f"d = {d}" for d in SIZES)],
            [
                [name, *("–" if (first := first_rounds(name, d)) is None else said(first) for d in SIZES)]
                for name in LEARNERS
            ],
        ),
    ]


CAPTION = "Swap regret against T on four instances and a control (d = 8), on logarithmic axes; the grey line is √T."
SHOWN = tuple(name for name in EVERYONE if name != "AdaHedge")


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw swap regret against T for every instance."""
    figure, panels = canvas("Swap regret against the number of rounds T", 3, 2, size=(7.2, 5.2), sharex=True)
    at = sorted(results.labels("T"))
    for panel, instance in zip(panels, results.labels("instance"), strict=False):
        panel.plot(at, [3 * one**0.5 for one in at], color="#BBBBBB", linewidth=5, alpha=0.6, label="3√T", zorder=0)
        for name in SHOWN:
            draw_line(panel, at, [results.mean(name, instance=instance, T=one) for one in at], name)
        log_axes(panel, ticks=at, text=lambda value: f"2{str(int(value).bit_length() - 1).translate(UPPER)}")
        panel.set_title(instance)
    for panel in panels[2:5]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel("T")
    for panel in panels[::3]:
        panel.set_ylabel("swap regret")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[5].set_axis_off()
    panels[5].legend(handles, labels, loc="center", fontsize=SMALLEST, borderaxespad=0)
    write(figure, folder / NAME)


UPPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
