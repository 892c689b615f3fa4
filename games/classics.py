"""Small games that everyone knows, as their sources print them: dilemmas, coordination, cycles.

Each function is a game; scenarios use its name with hyphens. Its settings are its arguments.
"""

from collections.abc import Sequence

import numpy as np

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games.tabulate import bimatrix, numbered, tabulate
from gamesim.validation import at_least, positive

PENNIES = ["heads", "tails"]
RPS = ["rock", "paper", "scissors"]


def prisoners_dilemma() -> Table:
    """The dilemma in which defecting is dominant and both defecting is worse for both.

    Source: Flood and Dresher (1950), named by Tucker; these payoffs are Axelrod's (1980).
    Teaches: a dominant action is the only correlated, coarse correlated and Nash equilibrium: learners must find it.

    >>> prisoners_dilemma().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 5.0]
    """
    return bimatrix("prisoners-dilemma", [[(3, 3), (0, 5)], [(5, 0), (1, 1)]], ["cooperate", "defect"])


def chicken() -> Table:
    """The game of daring whose correlated equilibria pay more than its Nash equilibria mixed.

    Source: Aumann (1974, 1987), "Correlated equilibrium as an expression of Bayesian rationality", with these payoffs.
    Teaches: a device that never says dare to both pays 5.25 each; the mixed Nash equilibrium 14/3.

    >>> chicken().payoffs[:, 0, 1].tolist()  # Row chickens out, Column dares
    [2.0, 7.0]
    """
    return bimatrix("chicken", [[(6, 6), (2, 7)], [(7, 2), (0, 0)]], ["chicken out", "dare"])


def stag_hunt() -> Table:
    """The hunt in which trust pays most and caution risks least.

    Source: Rousseau (1755); Skyrms (2004), "The Stag Hunt and the Evolution of Social Structure".
    Teaches: two pure equilibria, one better, one safer; where learners end depends on where they start.

    >>> stag_hunt().payoffs[:, 0, 1].tolist()  # Row goes for the stag, Column for a hare
    [0.0, 3.0]
    """
    return bimatrix("stag-hunt", [[(4, 4), (0, 3)], [(3, 0), (3, 3)]], ["stag", "hare"])


def battle_of_the_sexes() -> Table:
    """The evening that both want to spend together, each at another place.

    Source: Luce and Raiffa (1957), "Games and Decisions", section 5.3.
    Teaches: coordination with a conflict; a coin flip seen by both is a correlated equilibrium worth 5 in all.

    >>> battle_of_the_sexes().payoffs[:, 0, 0].tolist()  # both at the opera
    [3.0, 2.0]
    """
    return bimatrix(
        "battle-of-the-sexes", [[(3, 2), (0, 0)], [(0, 0), (2, 3)]], ["opera", "fight"], players=("One", "Other")
    )


def traffic_light() -> Table:
    """The crossing where a traffic light is a correlated equilibrium.

    Source: Roughgarden (2016), "Twenty Lectures on Algorithmic Game Theory", lecture 13.
    Teaches: half the time one stops and half the time the other; no independent choices do as well for both.

    >>> traffic_light().payoffs[:, 1, 0].tolist()  # East goes, North stops
    [1.0, 0.0]
    """
    return bimatrix("traffic-light", [[(0, 0), (0, 1)], [(1, 0), (-5, -5)]], ["stop", "go"], players=("East", "North"))


def matching_pennies() -> Table:
    """The smallest zero-sum game without a pure equilibrium.

    Source: von Neumann (1928), "Zur Theorie der Gesellschaftsspiele".
    Teaches: with Hedge the average play converges while the last strategies spiral out; optimistic Hedge spirals in.

    >>> matching_pennies().payoffs[:, 0, 1].tolist()  # heads and tails: the second wins
    [-1.0, 1.0]
    """
    cells = [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]
    return bimatrix("matching-pennies", cells, PENNIES, players=("Matcher", "Mismatcher"))


def rock_paper_scissors() -> Table:
    """The children's game: each action beats one and loses to another.

    Source: folklore; as a model of cycling in nature, Maynard Smith (1982), appendix D.
    Teaches: zero-sum cycling around the one equilibrium, uniform play.

    >>> rock_paper_scissors().payoffs[:, 0, 2].tolist()  # Row's rock breaks Column's scissors
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors", actions=[RPS, RPS])


def bad_rps() -> Table:
    """Rock-paper-scissors in which losing costs more than winning brings: coarse equilibria pay more than CE.

    Source: Moulin and Vial (1978), "Strategically zero-sum games"; the matrix is A = [[0,-2,1],[1,0,-2],[-2,1,0]].
    Teaches: every correlated equilibrium pays -2/3 in all, coarse correlated ones up to 0: the sets truly differ.

    >>> bad_rps().payoffs[:, 0, 1].tolist()  # Row's rock, Column's paper
    [-2.0, 1.0]
    """
    row = np.array([[0, -2, 1], [1, 0, -2], [-2, 1, 0]])
    return Table.from_payoffs([row, row.T], name="bad-rps", actions=[RPS, RPS])


def shapley() -> Table:
    """The game in which fictitious play cycles for ever.

    Source: Shapley (1964), "Some topics in two-person games".
    Teaches: no-external-regret play earns nearly 1 in all, a coarse correlated equilibrium that is no correlated one;
    learners without swap regret do reach a correlated equilibrium.

    >>> shapley().payoffs[:, 0, 1].tolist()  # Column is one further than Row, and wins
    [0.0, 1.0]
    """
    column = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    return Table.from_payoffs(
        [np.eye(3), column], name="shapley", actions=[["top", "middle", "bottom"], ["left", "centre", "right"]]
    )


def jordan() -> Table:
    """Three-player matching pennies, in which learning circles around the one equilibrium.

    Each wants to match the next, and the last wants to differ from the first.

    Source: Jordan (1993), "Three problems in learning mixed-strategy Nash equilibria".
    Teaches: no uncoupled smooth dynamic reaches this equilibrium; with three players cycling is not a zero-sum matter.

    >>> jordan().payoffs[:, 0, 0, 1].tolist()  # only the second fails: it does not match the third
    [1.0, -1.0, 1.0]
    """

    def payoff(i: int, choices: list[Integers]) -> Vector:
        match: Vector = np.where(choices[i] == choices[(i + 1) % 3], 1.0, -1.0)
        return -match if i == 2 else match

    return tabulate("jordan", ["First", "Second", "Third"], [PENNIES] * 3, payoff)


def hawk_dove(value: float = 2.0, cost: float = 4.0) -> Table:
    """The contest over a prize in which fighting costs more than the prize is worth.

    Two hawks get (value - cost) / 2 each, a hawk takes the value from a dove, two doves share it.

    Source: Maynard Smith and Price (1973), "The logic of animal conflict".
    Teaches: the mixed equilibrium has value / cost hawks; a correlated device that names an owner does better.

    >>> game = hawk_dove(value=3.0, cost=4.0)
    >>> game.payoffs[:, 0, 0].tolist(), game.payoffs[:, 0, 1].tolist()  # two hawks; a hawk and a dove
    ([-0.5, -0.5], [3.0, 0.0])
    """
    positive("value", value)
    positive("cost", cost)
    fight = (value - cost) / 2
    cells = [[(fight, fight), (value, 0.0)], [(0.0, value), (value / 2, value / 2)]]
    return bimatrix("hawk-dove", cells, ["hawk", "dove"])


def deadlock() -> Table:
    """The dilemma that is none: defecting is dominant, and best for both.

    Source: Snyder and Diesing (1977), "Conflict among Nations".
    Teaches: a dominant action need not be a tragedy; compare the prisoner's dilemma, one swap of payoffs away.

    >>> deadlock().payoffs[:, 0, 1].tolist()  # Row cooperates, Column defects
    [0.0, 3.0]
    """
    return bimatrix("deadlock", [[(1, 1), (0, 3)], [(3, 0), (2, 2)]], ["cooperate", "defect"])


def pure_coordination(actions: int = 3) -> Table:
    """The meeting without a meeting point: 1 for both if they choose the same place, else 0.

    Source: Schelling (1960), "The Strategy of Conflict", chapter 3.
    Teaches: as many strict equilibria as places; uniform play is one too, and equal
    learners stay there: it takes drawn actions (sampled feedback) or unequal starts to agree on a place.

    >>> game = pure_coordination(actions=4)
    >>> game.payoffs[:, 2, 2].tolist(), game.payoffs[:, 2, 3].tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """
    at_least("actions", actions, 1)
    places = numbered(actions, 1)
    return tabulate("pure-coordination", ("Row", "Column"), [places] * 2, lambda i, at: (at[0] == at[1]) * 1.0)


def asymmetric_pennies(prize: float = 320.0) -> Table:
    """Matching pennies with one large prize, which in equilibrium changes the other player's strategy only.

    Source: Goeree and Holt (2001), "Ten little treasures of game theory and ten intuitive contradictions".
    Teaches: people follow the prize; Nash's row player plays one half, whatever the prize.

    >>> asymmetric_pennies(prize=100.0).payoffs[:, 0, 0].tolist()  # both heads
    [100.0, 40.0]
    """
    positive("prize", prize)
    return bimatrix("asymmetric-pennies", [[(prize, 40), (40, 80)], [(40, 80), (80, 40)]], PENNIES)


def penalty_kick() -> Table:
    """The penalty kick, with the scoring rates of professional football.

    Source: Palacios-Huerta (2003), "Professionals play minimax": scoring rates in percent, natural side of the kicker.
    Teaches: the equilibrium (kicker's left 38.5 %, goalkeeper's left 42.0 %) is close to what professionals do.

    >>> penalty_kick().payoffs[:, 0, 1].tolist()  # the ball goes left, the goalkeeper right
    [94.97, -94.97]
    """
    rates = np.array([[58.30, 94.97], [92.91, 69.92]])
    sides = ["left", "right"]
    return Table.from_payoffs(
        [rates, -rates], name="penalty-kick", players=("Kicker", "Goalkeeper"), actions=[sides, sides]
    )


def inspection(gain: float = 1.0, fine: float = 4.0, cost: float = 1.0, harm: float = 2.0) -> Table:
    """The inspector who must check sometimes, because one who never checks is cheated.

    Violating brings `gain`, less the `fine` if inspected; inspecting has a `cost`; an unseen violation does `harm`.

    Source: Dresher (1962); Avenhaus, von Stengel and Zamir (2002), "Inspection games".
    Teaches: raising the fine lowers inspection, not violation: each mixes so as to make the other indifferent.

    >>> inspection(fine=3.0).payoffs[:, 0, 1].tolist()  # a violation is inspected
    [-1.0, -2.0]
    """
    for name, value in (("gain", gain), ("fine", fine), ("cost", cost), ("harm", harm)):
        positive(name, value)
    cells = [[(-cost, 0.0), (-cost, gain - fine)], [(0.0, 0.0), (-harm, gain)]]
    return bimatrix("inspection", cells, ["inspect", "trust"], ["comply", "violate"], ("Inspector", "Inspectee"))


def rock_paper_scissors_well() -> Table:
    """Rock-paper-scissors with a well, which rock and scissors fall into and paper covers: nobody needs rock any more.

    Source: folklore of European schoolyards.
    Teaches: a weakly dominated action dies out; what remains is rock-paper-scissors with a well for the rock.

    >>> rock_paper_scissors_well().payoffs[:, 3, 0].tolist()  # Column's rock falls into Row's well
    [1.0, -1.0]
    """
    wins = np.array([[0, -1, 1, -1], [1, 0, -1, 1], [-1, 1, 0, -1], [1, -1, 1, 0]])
    return Table.from_payoffs([wins, -wins], name="rock-paper-scissors-well", actions=[[*RPS, "well"]] * 2)


def rock_paper_scissors_lizard_spock() -> Table:
    """Rock-paper-scissors with five actions, each beating two and losing to two.

    Source: Kass and Bryla (about 1995).
    Teaches: a larger cycle with uniform equilibrium; a tournament in which every action is as good as any other.

    >>> game = rock_paper_scissors_lizard_spock()
    >>> lizard, paper = game.actions[0].index("lizard"), game.actions[1].index("paper")
    >>> game.payoffs[:, lizard, paper].tolist()  # the lizard eats the paper
    [1.0, -1.0]
    """
    order = [
        "rock",
        "paper",
        "scissors",
        "spock",
        "lizard",
    ]  # each beats those one and three places before it, cyclically

    def payoff(i: int, choices: list[Integers]) -> Vector:
        ahead = (choices[i] - choices[1 - i]) % 5
        return np.where(ahead == 0, 0.0, np.where(ahead % 2 == 1, 1.0, -1.0))

    return tabulate("rock-paper-scissors-lizard-spock", ("Row", "Column"), [order] * 2, payoff)


def zeeman() -> Table:
    """The game whose dynamics have two attractors: a pure action and a mixture of all three.

    Source: Zeeman (1980), "Population dynamics from game theory".
    Teaches: where learning ends depends on where it starts, and a stable mixture need not be evolutionarily stable.

    >>> zeeman().payoffs[:, 0, 1].tolist()
    [6.0, -3.0]
    """
    row = np.array([[0, 6, -4], [-3, 0, 5], [-1, 3, 0]])
    return Table.from_payoffs([row, row.T], name="zeeman")


def sparrow(beta: float = 0.7) -> Table:
    """Shapley's game with a dial: fictitious play is periodic at one end and chaotic in between.

    At `beta` = 0 it is Shapley's game; near the golden ratio's 0.618 the cycle loses its stability.

    Source: Sparrow, van Strien and Harris (2008), "Fictitious play in 3×3 games: the transition between periodic and
    chaotic behaviour".
    Teaches: simple learners in simple games can be chaotic.

    >>> sparrow(beta=0.5).payoffs[:, 0, 0].tolist()  # in Shapley's game 1 and 0
    [1.0, -0.5]
    """
    if not -1 < beta < 1:
        raise InputError(f"beta must lie between -1 and 1, and {beta} came")
    row = np.array([[1, 0, beta], [beta, 1, 0], [0, beta, 1]])
    column = np.array([[-beta, 1, 0], [0, -beta, 1], [1, 0, -beta]])
    return Table.from_payoffs([row, column], name="sparrow")


def feeble_twin(loss: float = 2.0, win: float = 1.0, feebleness: float = 0.05) -> Table:
    """Bad rock-paper-scissors with a twin of scissors that is always a little worse, and yet may survive.

    A `loss` and a `win` are what they cost and bring; the twin gets `feebleness` less than scissors, always.

    Source: Hofbauer and Sandholm (2011), "Survival of dominated strategies under evolutionary dynamics".
    Teaches: while play cycles, dynamics such as the replicator's keep playing a strictly dominated action for long; no
    correlated equilibrium plays it at all.

    >>> feeble_twin(loss=3.0, feebleness=0.25).payoffs[0, 2:].tolist()  # scissors, and their twin
    [[-3.0, 1.0, 0.0, 0.0], [-3.25, 0.75, -0.25, -0.25]]
    """
    for name, value in (("loss", loss), ("win", win), ("feebleness", feebleness)):
        positive(name, value)
    three = np.array([[0, -loss, win], [win, 0, -loss], [-loss, win, 0]])
    four = np.pad(three, ((0, 1), (0, 1)), mode="edge")
    four[3] -= feebleness
    return Table.from_payoffs([four, four.T], name="feeble-twin", actions=[[*RPS, "twin"]] * 2)


def dominated_twins(lateness: float = 0.1) -> Table:
    """The meeting at which always coming late, a strictly dominated action, is a coarse correlated equilibrium.

    Two places; meeting pays 1, and coming late costs `lateness` whatever the other does. Drawing a place by a public
    coin and both coming late pays 1 - lateness; no fixed action pays more than 1/2.

    Source: the observation is Viossat and Zapechelnyuk's (2013), "No-regret dynamics and fictitious play".
    Teaches: coarse correlated equilibria can live on dominated actions, correlated equilibria never do.

    >>> dominated_twins().payoffs[0].round(1).tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.9, -0.1, 0.9, -0.1], [-0.1, 0.9, -0.1, 0.9]]
    """
    if not 0 < lateness < 0.5:
        raise InputError(f"lateness must lie between 0 and 1/2, and {lateness} came")
    labels = ["park", "quay", "park, late", "quay, late"]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        pay: Vector = (choices[0] % 2 == choices[1] % 2) - lateness * (choices[i] >= 2)
        return pay

    return tabulate("dominated-twins", ("Row", "Column"), [labels] * 2, payoff)


def aumann() -> Table:
    """The three-player game in which two players share a secret and all three gain.

    If the first two flip a coin that the third cannot see, all get 2; the third, knowing it, would exploit them.

    Source: Aumann (1974), "Subjectivity and correlation in randomized strategies"; Osborne and Rubinstein (1994),
    exercise 48.1.
    Teaches: what a player does not know can help everyone; every pure Nash equilibrium pays somebody nothing.

    >>> aumann().payoffs[:, 0, 0, 0].tolist()  # (top, left, A)
    [0.0, 0.0, 3.0]
    """
    payoffs = np.zeros((3, 2, 2, 3))
    payoffs[:, 0, 0, 0] = 0, 0, 3
    payoffs[:, 1, 0, 0] = 1, 0, 0
    payoffs[:, 0, 0, 1] = payoffs[:, 1, 1, 1] = 2
    payoffs[:, 1, 0, 2] = 0, 1, 0
    payoffs[:, 1, 1, 2] = 0, 0, 3
    actions = [["top", "bottom"], ["left", "right"], ["A", "B", "C"]]
    return Table.from_payoffs(payoffs, name="aumann", players=["First", "Second", "Third"], actions=actions)


def commitment() -> Table:
    """The game that a leader who can commit wins with an action that is dominated.

    Source: Conitzer and Sandholm (2006), "Computing the optimal strategy to commit to", figure 1.
    Teaches: simultaneous learners end at (up, left), worth 2 to the leader; committing to half and half is worth 3.5.

    >>> commitment().payoffs[:, 0, 1].tolist()  # (up, right)
    [4.0, 0.0]
    """
    cells = [[(2, 1), (4, 0)], [(1, 0), (3, 1)]]
    return bimatrix("commitment", cells, ["up", "down"], ["left", "right"], ("Leader", "Follower"))


def hide_and_seek(values: Sequence[float] = (1.0, 2.0, 3.0)) -> Table:
    """The treasure hidden in one of several places, each worth something else to the one who finds it there.

    The seeker gets the place's value if she looks where it was hidden, the hider loses it.

    Source: von Neumann (1953), "A certain zero-sum two-person game equivalent to the optimal assignment problem".
    Teaches: both play in inverse proportion to the values; the value of the game is 1 / Σ 1/values.

    >>> hide_and_seek(values=(1.0, 5.0)).payoffs[:, 1, 1].tolist()  # found in the second place
    [5.0, -5.0]
    """
    if not values:
        raise InputError("values must name at least one place, and none came")
    for k, value in enumerate(values):
        positive(f"value {k + 1}", value)
    found = np.diag(np.array(values, dtype=np.float64))
    return Table.from_payoffs([found, -found], name="hide-and-seek", players=("Seeker", "Hider"))


def centipede(moves: int = 4) -> Table:
    """The growing pot that two players pass to and fro, until one of them takes the larger share.

    At move k (from 0) the mover may take 4·2^k and leave 2^k; after the last move the shares double once more, and the
    one whose turn it would be gets the larger. An action is at which of one's own moves to take, if ever.

    Source: Rosenthal (1981); McKelvey and Palfrey (1992), "An experimental study of the centipede game".
    Teaches: the only Nash outcome is taking at once, found by iterated reasoning; learners need long to find it.

    >>> centipede().payoffs[:, 2, 2]  # nobody ever takes
    array([64., 16.])
    """
    at_least("moves", moves, 1)
    if moves > 100:
        raise InputError(f"moves must be at most 100, and {moves} came")
    turns = [range(player, moves, 2) for player in (0, 1)]
    labels = [[*(f"take at {k + 1}" for k in turn), "pass"] for turn in turns]

    def payoff(i: int, choices: list[Integers]) -> Vector:
        stops = [np.where(choices[j] < len(turns[j]), 2 * choices[j] + j, moves) for j in (0, 1)]
        stop = np.minimum(*stops)
        share: Vector = np.where(stop % 2 == i, 4.0, 1.0) * 2.0**stop
        return share

    return tabulate("centipede", ("First", "Second"), labels, payoff)
