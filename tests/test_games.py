"""The named games: their facts against hand-solved answers, brute force and linear programs."""

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import gamesim
from gamesim import equilibrium, games
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games import families, tables
from gamesim.games.io import interop
from gamesim.measure.incentives import EquilibriumKind

NAMED = [name for name, maker in tables.available().items() if maker.__module__ != families.__name__]
SMALL = [name for name in NAMED if games.make(name).cells <= 36]


def table(name: str, **settings: Any) -> Table:
    game = games.make(name, **settings)
    assert isinstance(game, Table)
    return game


def deviations(game: Table, kind: str) -> NDArray[np.float64]:
    """What each deviation gains in each action profile, one per row, written from the definition."""
    rows = []
    for i, size in enumerate(game.sizes):
        for recommended, instead in product([None] if kind == "cce" else range(size), range(size)):
            gain = np.zeros(game.sizes)
            for profile in np.ndindex(*game.sizes):
                if recommended is None or profile[i] == recommended:
                    other = (*profile[:i], instead, *profile[i + 1 :])
                    gain[profile] = game.payoffs[(i, *other)] - game.payoffs[(i, *profile)]
            rows.append(gain.ravel())
    return np.array(rows)


def best_joint(game: Table, kind: str, objective: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The equilibrium with the largest expected objective, by an independent linear program."""
    gains = deviations(game, kind)
    solved = linprog(
        -objective.ravel(), A_ub=gains, b_ub=np.zeros(len(gains)), A_eq=np.ones((1, game.cells)), b_eq=[1.0]
    )
    assert solved.status == 0 and solved.fun is not None
    return -solved.fun, np.asarray(solved.x)


def minimax_value(won: NDArray[np.float64]) -> float:
    rows, columns = won.shape
    solved = linprog(
        [*[0] * rows, -1], A_ub=np.column_stack([-won.T, np.ones(columns)]), b_ub=np.zeros(columns),
        A_eq=[[*[1] * rows, 0]], b_eq=[1], bounds=[*[(0, 1)] * rows, (None, None)],
    )  # fmt: skip
    assert solved.fun is not None
    return -solved.fun


def paid(game: Table, profile: tuple[int, ...]) -> NDArray[np.float64]:
    """What each player gets when these actions are played."""
    return game.payoffs.reshape(len(game.players), -1)[:, np.ravel_multi_index(profile, game.sizes)]


def pure_by_brute_force(game: Table) -> list[tuple[int, ...]]:
    found = []
    for profile in product(*map(range, game.sizes)):
        changes = [
            game.payoffs[(i, *profile[:i], a, *profile[i + 1 :])] <= game.payoffs[(i, *profile)]
            for i, size in enumerate(game.sizes)
            for a in range(size)
        ]
        if all(changes):
            found.append(profile)
    return found


def test_there_are_more_than_forty_named_games_and_each_says_what_it_is() -> None:
    assert len(NAMED) >= 40
    for name, maker in games.available().items():
        text = inspect.getdoc(maker) or ""
        assert text.splitlines()[0].endswith("."), name
        assert "Source:" in text and "Teaches:" in text, name
        game = games.make(name)
        assert game.name == name
        assert len(set(game.players)) == len(game.players)
        assert all(len(set(labels)) == len(labels) for labels in game.actions)


def test_the_first_games_have_the_payoffs_that_everyone_uses() -> None:
    cells = {
        "prisoners-dilemma": [[(3, 3), (0, 5)], [(5, 0), (1, 1)]],
        "chicken": [[(6, 6), (2, 7)], [(7, 2), (0, 0)]],
        "battle-of-the-sexes": [[(3, 2), (0, 0)], [(0, 0), (2, 3)]],
        "shapley": [[(1, 0), (0, 1), (0, 0)], [(0, 0), (1, 0), (0, 1)], [(0, 1), (0, 0), (1, 0)]],
        "bad-rps": [[(0, 0), (-2, 1), (1, -2)], [(1, -2), (0, 0), (-2, 1)], [(-2, 1), (1, -2), (0, 0)]],
        "asymmetric-pennies": [[(320, 40), (40, 80)], [(40, 80), (80, 40)]],
    }
    for name, expected in cells.items():
        np.testing.assert_array_equal(np.moveaxis(table(name).payoffs, 0, -1), expected)


@pytest.mark.parametrize(
    ("name", "ce", "cce", "optimum"),
    [
        ("chicken", (7.2, 10.5), (7.2, 10.5), 12),
        ("shapley", (2 / 3, 1), (2 / 3, 1), 1),
        ("bad-rps", (-2 / 3, -2 / 3), (-2 / 3, 0), 0),
        ("battle-of-the-sexes", (2.4, 5), (2.4, 5), 5),
        ("prisoners-dilemma", (2, 2), (2, 2), 6),
    ],
)
def test_welfare_over_equilibria(name: str, ce: tuple[float, float], cce: tuple[float, float], optimum: float) -> None:
    game = table(name)
    welfare = game.payoffs.sum(axis=0)
    both: dict[EquilibriumKind, tuple[float, float]] = {"ce": ce, "cce": cce}
    for kind, expected in both.items():
        own = -best_joint(game, kind, -welfare)[0], best_joint(game, kind, welfare)[0]
        np.testing.assert_allclose(own, expected, atol=1e-9)
        np.testing.assert_allclose(equilibrium.welfare_range(game, kind), expected, atol=1e-8)
    assert equilibrium.optimum(game) == optimum


@pytest.mark.parametrize("name", SMALL)
def test_nash_the_linear_program_and_brute_force_agree(name: str) -> None:
    game = table(name)
    pure = pure_by_brute_force(game)
    assert [tuple(profile) for profile in interop.pure_equilibria(game).tolist()] == pure
    for profile in pure:
        mass = np.zeros(game.sizes)
        mass[profile] = 1
        assert equilibrium.gap(game, mass, "ce") == 0
        assert (deviations(game, "ce") @ mass.ravel()).max() <= 0
        value, found = best_joint(game, "ce", mass)  # the point mass is a vertex: the program can reach all of it
        assert value == pytest.approx(1)
        np.testing.assert_allclose(found, mass.ravel(), atol=1e-9)
    random = np.random.default_rng(0)
    for _ in range(3):
        direction = random.standard_normal(game.sizes)
        in_ce, joint = best_joint(game, "ce", direction)
        assert (deviations(game, "cce") @ joint).max() <= 1e-7 * max(1.0, np.abs(game.payoffs).max())  # CE ⊂ CCE
        assert best_joint(game, "cce", direction)[0] >= in_ce - 1e-9
    if len(game.players) == 2:
        equilibria = interop.nash_equilibria(game)
        assert equilibria.profiles
        as_pure = {(int(x.argmax()), int(y.argmax())) for x, y in equilibria.profiles if max(x) == 1 == max(y)}
        assert as_pure == set(pure)
        for x, y in equilibria.profiles:
            assert equilibrium.gap(game, np.outer(x, y), "ce") <= 1e-9 * np.ptp(game.payoffs)
            assert equilibrium.distance(game, np.outer(x, y), "ce") <= 1e-9


@pytest.mark.parametrize("sizes", [(3, 2), (2, 4, 3), (2, 3, 2, 4), (2, 3, 2, 2, 3)])
def test_expected_losses_of_tables_equal_an_einsum(sizes: tuple[int, ...]) -> None:
    game = families.uniform(players=len(sizes), actions=list(sizes), seed=3)
    random = np.random.default_rng(1)
    strategies = [random.dirichlet(np.ones(size)) for size in sizes]
    expected = []
    for i in range(len(sizes)):
        operands: list[Any] = [game.payoffs[i], list(range(len(sizes)))]
        for j, strategy in enumerate(strategies):
            if j != i:
                operands += [strategy, [j]]
        payoffs = np.einsum(*operands, [i])
        expected.append((game.middle[i] - payoffs) / game.scale[i])
    got = game.expected_losses(np.concatenate(strategies))
    np.testing.assert_allclose(got, np.concatenate(expected), rtol=0, atol=1e-12)


def equilibria(name: str, **settings: Any) -> list[list[list[float]]]:
    found = interop.nash_equilibria(table(name, **settings)).profiles
    return [[strategy.round(6).tolist() for strategy in profile] for profile in found]


def test_mixed_equilibria_that_textbooks_print() -> None:
    mixed = equilibria("hawk-dove", value=2.0, cost=8.0)[1]
    assert mixed == [[0.25, 0.75], [0.25, 0.75]]  # value / cost hawks
    np.testing.assert_allclose(equilibria("penalty-kick"), [[[0.3854, 0.6146], [0.4199, 0.5801]]], atol=1e-4)
    assert equilibria("asymmetric-pennies") == [[[0.5, 0.5], [0.125, 0.875]]]
    np.testing.assert_allclose(equilibria("hide-and-seek"), [[[6 / 11, 3 / 11, 2 / 11]] * 2], atol=1e-6)
    np.testing.assert_allclose(equilibria("inspection"), [[[1 / 4, 3 / 4], [1 / 2, 1 / 2]]], atol=1e-6)
    assert any(np.allclose(pair, 1 / 3, atol=1e-6) for pair in equilibria("zeeman"))
    assert [[1, 0, 0], [1, 0, 0]] in equilibria("zeeman")
    np.testing.assert_allclose(equilibria("rock-paper-scissors-lizard-spock"), [[[0.2] * 5] * 2], atol=1e-6)
    well = equilibria("rock-paper-scissors-well")
    np.testing.assert_allclose(well, [[[0, 1 / 3, 1 / 3, 1 / 3]] * 2], atol=1e-6)  # nobody needs rock


def test_zero_sum_values() -> None:
    for name, value in [("kuhn-poker", -1 / 18), ("morra", 0), ("blotto", 0), ("rock-paper-scissors-well", 0)]:
        game = table(name)
        np.testing.assert_allclose(game.payoffs.sum(axis=0), 0, atol=1e-15)
        assert minimax_value(game.payoffs[0]) == pytest.approx(value, abs=1e-9)
    assert minimax_value(table("hide-and-seek").payoffs[0]) == pytest.approx(1 / (1 + 1 / 2 + 1 / 3))
    assert minimax_value(table("blotto", soldiers=[6, 4]).payoffs[0]) > 0


def test_lizard_and_spock_beat_whom_they_should() -> None:
    game = table("rock-paper-scissors-lizard-spock")
    names = list(game.actions[0])
    beats = "scissors paper, paper rock, rock lizard, lizard spock, spock scissors, "
    beats += "scissors lizard, lizard paper, paper spock, spock rock, rock scissors"
    for pair in beats.split(", "):
        winner, loser = map(names.index, pair.split())
        assert game.payoffs[:, winner, loser].tolist() == [1, -1]
        assert game.payoffs[:, loser, winner].tolist() == [-1, 1]


def test_dilemmas_have_a_dominant_action_that_is_worse_for_all() -> None:
    for name, own in [("prisoners-dilemma", 1), ("public-goods", 0), ("diners-dilemma", 1)]:
        game = table(name)
        for i, payoffs in enumerate(game.payoffs):
            mine = np.moveaxis(payoffs, i, 0)
            assert (mine[own] > np.delete(mine, own, axis=0)).all()
        everyone = game.payoffs.reshape(len(game.players), -1).sum(axis=0)
        profile = np.ravel_multi_index((own,) * len(game.players), game.sizes)
        assert everyone[profile] < everyone.max()
    deadlock = table("deadlock").payoffs
    assert deadlock[:, 1, 1].sum() > deadlock[:, 0, 0].sum()


def test_coarse_equilibria_live_on_dominated_actions_and_correlated_ones_do_not() -> None:
    game = table("dominated-twins", lateness=0.1)
    assert (game.payoffs[0, 0] > game.payoffs[0, 2]).all()
    late = np.zeros((4, 4))
    late[2, 2] = late[3, 3] = 0.5
    assert equilibrium.gap(game, late, "cce") == 0
    assert equilibrium.gap(game, late, "ce") == pytest.approx(0.1)
    on_late = np.add.outer([0, 0, 1, 1], [0, 0, 1, 1])
    assert best_joint(game, "cce", on_late.astype(float))[0] == pytest.approx(2)
    assert best_joint(game, "ce", on_late.astype(float))[0] == pytest.approx(0, abs=1e-9)


def test_two_players_with_a_secret_help_the_third() -> None:
    game = table("aumann")
    secret = np.zeros(game.sizes)
    secret[0, 0, 1] = secret[1, 1, 1] = 0.5
    assert equilibrium.gap(game, secret, "ce") == 0
    assert np.tensordot(game.payoffs, secret, 3).tolist() == [2, 2, 2]
    assert max(paid(game, profile).min() for profile in pure_by_brute_force(game)) == 0


def test_iterated_reasoning_ends_where_it_should() -> None:
    assert pure_by_brute_force(table("travellers-dilemma")) == [(0, 0)]
    assert pure_by_brute_force(table("guess-two-thirds")) == [(0, 0, 0)]
    assert all(profile[0] == 0 for profile in pure_by_brute_force(table("centipede")))
    assert table("centipede").payoffs[:, 0, 0].tolist() == [4, 1]
    assert table("centipede").payoffs[:, 1, 0].tolist() == [2, 8]
    assert table("commitment").payoffs[:, 0, 0].tolist() == [2, 1]
    assert pure_by_brute_force(table("commitment")) == [(0, 0)]


def test_markets() -> None:
    assert (4, 4) in pure_by_brute_force(table("cournot"))  # (12 - 0) / 3 each
    assert pure_by_brute_force(table("cournot", players=3, demand=12.0)) and table("cournot").payoffs[0, 3, 3] == 18
    assert pure_by_brute_force(table("bertrand", cost=0.0)) == [(0, 0), (1, 1)]
    assert pure_by_brute_force(table("hotelling")) == [(3, 3)]
    for places in range(1, 10):  # three sellers: pure equilibria on short lines only
        assert bool(pure_by_brute_force(table("hotelling", players=3, places=places))) == (places <= 4)
    assert table("hotelling").payoffs[:, 1, 2].tolist() == [2, 5]
    for profile in pure_by_brute_force(table("nash-demand")):
        assert sum(profile) == 10 or profile == (10, 10)
    trust = table("trust")
    assert trust.payoffs[:, 2, 2].tolist() == [3, 3]
    assert all(profile[0] == 0 for profile in pure_by_brute_force(trust))


def test_auctions() -> None:
    second = table("second-price-auction", values=[6.0, 4.0, 3.0])
    for i, value in enumerate([6, 4, 3]):  # honesty is weakly dominant
        mine = np.moveaxis(second.payoffs[i], i, 0)
        assert (mine[value] >= mine).all()
    assert second.payoffs[:, 6, 4, 3].tolist() == [2, 0, 0]
    first = table("first-price-auction")
    assert first.payoffs[:, 4, 4].tolist() == [1, 0]
    assert all(profile[0] >= profile[1] for profile in pure_by_brute_force(first))
    every = table("all-pay-auction")
    assert every.payoffs[:, 3, 1].tolist() == [2, -1]
    assert every.payoffs[:, 3, 3].tolist() == [-0.5, -0.5]
    assert pure_by_brute_force(every) == []
    np.testing.assert_allclose(equilibria("all-pay-auction"), [[[0.2] * 5 + [0.0] * 2] * 2], atol=1e-6)
    for kind in ("ce", "cce"):  # integer bids do not consume the whole prize of 5
        np.testing.assert_allclose(equilibrium.welfare_range(every, kind), (1, 1), atol=1e-8)
    assert table("war-of-attrition").payoffs[:, 2, 5].tolist() == [-2, 2]


def test_crowds() -> None:
    for profile in pure_by_brute_force(table("el-farol", players=4, capacity=2)):
        assert sum(profile) == 2
    for profile in pure_by_brute_force(table("volunteers-dilemma")):
        assert sum(profile) == 1
    assert sorted(set(map(sum, pure_by_brute_force(table("minority"))))) == [2, 3]
    assert {len(set(profile)) for profile in pure_by_brute_force(table("minimum-effort"))} == {1}
    assert table("minimum-effort").payoffs[:, 6, 6, 0].round(9).tolist() == [0.1, 0.1, 0.7]  # dollars, as in the paper
    chair = table("chairs-paradox")
    assert chair.payoffs[:, 0, 2, 2].tolist() == [0, 1, 2]  # honest third, sophisticated second: C wins
    assert (0, 2, 2) in pure_by_brute_force(chair)
    votes = table("plurality-voting", voters=3)
    assert votes.payoffs[:, 0, 1, 2].tolist() == [1, 1, 1]  # a three-way tie, by lot
    assert votes.payoffs[:, 1, 1, 0].tolist() == [1, 2, 0]
    jobs = table("load-balancing")
    assert (0, 0, 1, 1) in pure_by_brute_force(jobs)
    assert jobs.payoffs[:, 0, 0, 1, 1].tolist() == [-4, -4, -2, -2]


@pytest.mark.parametrize("players", [2, 4, 6])
def test_braess_and_pigou_cost_four_thirds(players: int) -> None:
    pigou, braess, without = (
        table("pigou", players=players),
        table("braess", players=players),
        table("braess", players=players, shortcut=False),
    )
    all_narrow, all_shortcut = (1,) * players, (2,) * players
    assert all_narrow in pure_by_brute_force(pigou)
    assert all_shortcut in pure_by_brute_force(braess)
    assert paid(pigou, all_narrow).sum() / pigou.payoffs.sum(axis=0).max() == pytest.approx(4 / 3)
    worst = paid(braess, all_shortcut).sum()
    assert worst == -2 * players
    for profile in pure_by_brute_force(without):
        assert worst / paid(without, profile).sum() == pytest.approx(4 / 3)


def test_the_worst_affine_congestion_game_is_five_halves_and_no_coarse_equilibrium_is_worse() -> None:
    game = table("affine-congestion")
    cost = -game.payoffs.sum(axis=0)
    assert (1, 1, 1) in pure_by_brute_force(game)
    assert cost[1, 1, 1] / cost.min() == 2.5
    assert best_joint(game, "cce", cost)[0] / cost.min() == pytest.approx(2.5)


def test_equal_learners_stay_equal_until_actions_are_drawn() -> None:
    """What the games of sorting say of themselves: by symmetry under expected feedback, and not under sampled."""
    for name in ("el-farol", "volunteers-dilemma", "minority", "pure-coordination"):
        together = gamesim.simulate(name, "hedge", rounds=1500).trajectory[1]
        apart = gamesim.simulate(name, "hedge", rounds=1500, feedback="sampled", seed=1).trajectory[1]
        np.testing.assert_allclose(
            [own[-1] for own in together], together[0][-1][None].repeat(len(together), 0), atol=1e-9
        )
        assert max(together[0][-1]) < 0.9
        if name != "minority":  # there a loser who switches loses again, and need not settle
            assert all(max(own[-1]) > 0.95 for own in apart), name
    shown = [own[-1].argmax() for own in apart]
    assert len(set(shown)) == 1  # the last of them is coordination: all at one place


def test_mistakes_in_settings_are_reported() -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("chiken", {}, "unknown game 'chiken'; did you mean 'chicken'"),
        ("el-farol", {"playrs": 3}, "el-farol has no setting 'playrs'; did you mean 'players"),
        ("chicken", {"players": 3}, "chicken has no setting 'players'; it has no settings"),
        ("el-farol", {"players": "five"}, "el-farol: players: .*got 'five'"),
        ("el-farol", {"players": 2.5}, "el-farol: players: .*got 2.5"),
        ("el-farol", {"players": True}, "el-farol: players"),
        ("el-farol", {"players": 1}, "players must be at least 2, got 1"),
        (
            "public-goods",
            {"factor": 9.0},
            "factor must be between 1 and the number of players \\(4\\), both excluded, got 9.0",
        ),
        ("hawk-dove", {"cost": float("nan")}, "cost must be finite, got nan"),
        ("minority", {"players": 4}, "players must be odd in the minority game, got 4"),
        ("blotto", {"soldiers": [1]}, "two entries, one per player"),
        ("uniform", {"actions": [2, 3, 4]}, r"2 players need 2 numbers of actions, got \[2, 3, 4\]"),
        ("uniform", {"actions": 0}, "actions must be at least 1"),
        ("uniform", {"players": 10**9}, "at most 63 are allowed; reduce players"),
    ]
    for name, settings, message in cases:
        with pytest.raises(InputError, match=message):
            games.make(name, **settings)


@pytest.mark.parametrize(
    ("name", "settings", "size"),
    [
        ("el-farol", {"players": 40}, "320 TiB"),
        ("public-goods", {"players": 30}, "PiB"),
        ("uniform", {"players": 2, "actions": 30000}, "13.4 GiB"),
        ("zero-sum", {"actions": 10**9}, "13.9 EiB"),
        ("symmetric", {"players": 50, "actions": 10}, "EiB"),
        ("congestion", {"players": 60, "actions": 9}, "EiB"),
        ("uniform", {"players": 64, "actions": 1}, "a table for 64 players; at most 63 are allowed"),
        ("braess", {"players": 25}, "TiB"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_its_size(name: str, settings: dict[str, Any], size: str) -> None:
    with pytest.raises(InputError, match=size):
        games.make(name, **settings)


def test_custom_payoffs() -> None:
    game = games.from_payoffs([[1, 2, 3], [4, 5, 6]], [[0, 0, 0], [1, 1, 1]], name="own", players=["A", "B"])
    assert game.sizes == (2, 3)
    assert game.players == ("A", "B")
    assert games.from_payoffs([1, 2, 3]).sizes == (3,)
    payoffs: Any
    for payoffs, message in [
        (([[1, 2], [3, 4]],), r"got one array with two axes: give \(A, -A\)"),
        ((np.zeros((2, 2, 2)),), r"from_payoffs\(\*payoffs\)"),
        (([[1, 2], [3]], [[1, 2], [3, 4]]), "rectangular"),
        (([[1, np.nan]], [[1, 1]]), "finite"),
        (([[1, 2]], [[1], [2]]), "the same shape"),
        ((), "got none"),
    ]:
        with pytest.raises(InputError, match=message):
            games.from_payoffs(*payoffs)


def test_games_travel_to_nashpy_and_back() -> None:
    game = families.uniform(actions=[2, 3])
    back = interop.from_nashpy(interop.to_nashpy(game))
    np.testing.assert_array_equal(back.payoffs, game.payoffs)
    with pytest.raises(InputError, match="two-player games; jordan has 3 players"):
        interop.to_nashpy(games.make("jordan"))
    with pytest.raises(InputError, match="no table"):
        interop.to_nashpy(games.make("polymatrix"))


def test_the_limits_of_nash_enumeration_are_said() -> None:
    assert interop.nash_equilibria(table("chicken")).note == "all equilibria"
    trust = interop.nash_equilibria(table("trust"))
    assert not trust.is_complete and "degenerate" in trust.note
    large = interop.nash_equilibria(table("nash-demand"))
    assert not large.is_complete and "too many for enumeration" in large.note
    assert len(large.profiles) == len(pure_by_brute_force(table("nash-demand")))


def test_dominance_leaves_no_equilibrium_out() -> None:
    """Against the enumeration without elimination: nashpy alone, on games with and without dominated actions."""
    for seed in range(12):
        game = families.uniform(actions=[3, 4], seed=seed)
        own = interop.nash_equilibria(game)
        theirs = list(interop.to_nashpy(game).support_enumeration(non_degenerate=True))
        assert own.is_complete
        assert len(own.profiles) == len(theirs)
        for pair in theirs:
            assert any(all(np.allclose(a, b) for a, b in zip(pair, found, strict=True)) for found in own.profiles)


def test_the_extreme_equilibria_of_a_degenerate_game_are_found() -> None:
    """An example of von Stengel (2002): whatever Column does between the first two, Row plays its first action."""
    game = games.from_payoffs([[3, 3], [2, 5], [0, 6]], [[3, 3], [2, 6], [3, 1]])
    found = interop.nash_equilibria(game)
    assert "degenerate" in found.note
    expected = [((1, 0, 0), (1, 0)), ((1, 0, 0), (2 / 3, 1 / 3)), ((0, 1 / 3, 2 / 3), (1 / 3, 2 / 3))]
    assert len(found.profiles) == len(expected)
    for pair in expected:
        assert any(all(np.allclose(a, b) for a, b in zip(pair, one, strict=True)) for one in found.profiles)


def test_every_game_says_itself_in_arrays() -> None:
    for name in games.available():
        game: Game = games.make(name)
        back = type(game).from_arrays(game.name, game.players, game.actions, game.arrays())
        profile = np.concatenate([np.random.default_rng(0).dirichlet(np.ones(size)) for size in game.sizes])
        np.testing.assert_array_equal(back.expected_losses(profile), game.expected_losses(profile))
        assert np.abs(game.expected_losses(profile)).max() <= 1 + 1e-15  # rounded
