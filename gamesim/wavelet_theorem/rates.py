"""Claim 2, rates: swap regret grows at most as √T, and more slowly where learning is possible.

With a gap of √(1/T), every learner, even uniform play, has regret of order √T. That instance is only a control.
"""

from pathlib import Path

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.measure import regrets
from gamesim.study.results import Results
from gamesim.study.statistics import Mean
from gamesim.wavelet_theorem.adversaries import ADAPTIVE as ADVERSARY
from gamesim.wavelet_theorem.adversaries import EDGE, FIXED, GAP, INSTANCES, PAIRS, SHIFTING, suffered
from gamesim.wavelet_theorem.comparisons import LOST, Comparison, compare, holm, p_value
from gamesim.wavelet_theorem.instances import (
    LEARNERS,
    OPTIMISTIC,
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
    said_power,
    table,
)

NAME = "rates"
TITLE = "Swap regret grows no faster than √T, and more slowly where it can"
CRITERION = "no wavelet learner grows significantly faster than √T, and with a fixed gap all grow more slowly"
ACTIONS = 8
FULL = tuple(2**k for k in (10, 12, 14))
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
        rounds = 1 << power
        promise = EVERYONE[learner]().with_horizon(rounds).guarantee()
        if promise is not None and promise.regret == "swap" and promise.bound(rounds, actions) < rounds:
            return rounds
    return None


def _power(results: Results, name: str, instance: str) -> Mean | None:
    return exponent(results, name, "T", sorted(results.labels("T")), {"instance": instance})


def finding(results: Results) -> str:
    """Summarise the claim in a clause."""
    found = [_power(results, OPTIMISTIC, one) for one in results.labels("instance") if one not in (FIXED, EDGE)]
    fastest = max((one for one in found if one is not None), key=lambda one: one.value)
    return (
        f"its swap regret grows as T to the power {said_power(_power(results, OPTIMISTIC, FIXED))} with a fixed gap "
        f"and at most {said_power(fastest)} against adversaries"
    )


def paragraph(results: Results) -> str:
    """State what was found."""
    rounds = max(results.labels("T"))
    promise = LEARNERS[OPTIMISTIC]().guarantee()
    assert promise is not None
    bound = promise.bound(rounds, ACTIONS)
    shares = [
        one.value / bound for cell in cells(results) if (one := results.mean(OPTIMISTIC, **cell)) is not None
    ]  # fmt: skip

    fixed = {"instance": FIXED, "T": rounds}
    faster = sum(one.verdict == LOST for one in compared(results) if one.cell == fixed)

    def power(name: str, instance: str) -> str:
        return said_power(_power(results, name, instance))

    ratio, fast = median_ratio(results, OPTIMISTIC, RIVALS, cells(results)), too_fast(results)
    offenders = f" Significantly faster than √T: {listed(fast)}." if fast else ""
    return (
        f"At d = {ACTIONS}, T grows to {rounds:,}. With a fixed gap of {GAP}, the swap regret of `{OPTIMISTIC}` grows "
        f"as T to the power {power(OPTIMISTIC, FIXED)}. The power is {power(OPTIMISTIC, ADVERSARY)} against an "
        f"adversary that maximises swap regret one round ahead, {power(OPTIMISTIC, PAIRS)} on a lower-bound "
        f"construction, and {power(OPTIMISTIC, SHIFTING)} if the best action shifts.{offenders} In the control, with a "
        f"gap of order √(1/T), even uniform play has {power(UNIFORM, EDGE)}. In the median over the four instances, "
        f"the flagship's regret is {said(ratio)} times the best rival's, and {said(faster)} of {said(len(RIVALS))} "
        f"rivals have less with a fixed gap. Its declared worst-case bound is below T from "
        f"T = {said(first_rounds(OPTIMISTIC, ACTIONS))} (at d = {SIZES[-1]} from "
        f"{said(first_rounds(OPTIMISTIC, SIZES[-1]))}, out of reach here); regret is at most {said(max(shares))} of it."
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
            [[name, *(said_power(_power(results, name, one)) for one in found)] for name in EVERYONE],
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


CAPTION = "Swap regret against T, four instances and a control; the grey band is 3√T."
TITLES = {PAIRS: f"lower bound ({PAIRS})", EDGE: f"control ({EDGE})"}
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
        panel.set_title(TITLES.get(instance, instance))
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
