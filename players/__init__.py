"""The built-in learners, one per file.

To add a learner, add its file and import it here; everything else uses `available`.
"""

if __name__ == "players":  # in a checkout this folder is on the path
    raise ImportError("this folder is the package gamesim.players; import gamesim.players instead")

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from gamesim import user_files
from gamesim.deprecated import warn
from gamesim.errors import InputError, unknown, unknown_setting
from gamesim.formatting import shown
from gamesim.learner import Learner
from gamesim.players import notation
from gamesim.players.adahedge import AdaHedge as AdaHedge
from gamesim.players.adanormal_hedge import AdaNormalHedge as AdaNormalHedge
from gamesim.players.adversary import Adversary as Adversary
from gamesim.players.aggregate import Aggregate as Aggregate
from gamesim.players.bandit_blum_mansour import BanditBlumMansour as BanditBlumMansour
from gamesim.players.best_response import BestResponse as BestResponse
from gamesim.players.blum_mansour import BlumMansour as BlumMansour
from gamesim.players.blum_mansour_log_barrier import BlumMansourLogBarrier as BlumMansourLogBarrier
from gamesim.players.clairvoyant import Clairvoyant as Clairvoyant
from gamesim.players.coin_betting import CoinBetting as CoinBetting
from gamesim.players.comparator_adaptive_bm import ComparatorAdaptiveBM as ComparatorAdaptiveBM
from gamesim.players.discounted_regret_matching import DiscountedRegretMatching as DiscountedRegretMatching
from gamesim.players.exp3 import Exp3 as Exp3
from gamesim.players.exp3_ix import Exp3IX as Exp3IX
from gamesim.players.extragradient_rm_plus import ExtragradientRegretMatchingPlus as ExtragradientRegretMatchingPlus
from gamesim.players.fictitious_play import FictitiousPlay as FictitiousPlay
from gamesim.players.first_order_hedge import FirstOrderHedge as FirstOrderHedge
from gamesim.players.fixed import Fixed as Fixed
from gamesim.players.ftrl import FTRL as FTRL
from gamesim.players.gradient import Gradient as Gradient
from gamesim.players.hedge import Hedge as Hedge
from gamesim.players.inertial_regret_matching import InertialRegretMatching as InertialRegretMatching
from gamesim.players.internal_regret_matching import InternalRegretMatching as InternalRegretMatching
from gamesim.players.logit import Logit as Logit
from gamesim.players.magnetic_mirror_descent import MagneticMirrorDescent as MagneticMirrorDescent
from gamesim.players.normal_hedge import NormalHedge as NormalHedge
from gamesim.players.optimistic_gradient import OptimisticGradient as OptimisticGradient
from gamesim.players.optimistic_hedge import OptimisticHedge as OptimisticHedge
from gamesim.players.predictive_rm_plus import PredictiveRegretMatchingPlus as PredictiveRegretMatchingPlus
from gamesim.players.prior_hedge import PriorHedge as PriorHedge
from gamesim.players.q_learning import QLearning as QLearning
from gamesim.players.regret_matching import RegretMatching as RegretMatching
from gamesim.players.regret_matching_plus import RegretMatchingPlus as RegretMatchingPlus
from gamesim.players.replicator import Replicator as Replicator
from gamesim.players.smooth_fictitious_play import SmoothFictitiousPlay as SmoothFictitiousPlay
from gamesim.players.smooth_predictive_rm_plus import (
    SmoothPredictiveRegretMatchingPlus as SmoothPredictiveRegretMatchingPlus,
)
from gamesim.players.squint import Squint as Squint
from gamesim.players.stable_predictive_rm_plus import (
    StablePredictiveRegretMatchingPlus as StablePredictiveRegretMatchingPlus,
)
from gamesim.players.stoltz_lugosi import StoltzLugosi as StoltzLugosi
from gamesim.players.subsequence_regret import SubsequenceRegret as SubsequenceRegret
from gamesim.players.treeswap import TreeSwap as TreeSwap
from gamesim.players.tsallis_inf import TsallisINF as TsallisINF
from gamesim.players.uniform import Uniform as Uniform
from gamesim.players.wavelet import Wavelet as Wavelet
from gamesim.players.wavelet import WaveletContinuous as WaveletContinuous
from gamesim.players.wavelet_optimistic import WaveletOptimistic as WaveletOptimistic

if TYPE_CHECKING:
    from gamesim.players.learner_names import LearnerName

_LEARNERS: dict[str, type[Learner]] = {
    name: thing
    for name, thing in globals().items()
    if isinstance(thing, type) and thing.__module__.startswith(__name__)
}

_BY_NAME = {learner.name: learner for learner in _LEARNERS.values()}

__all__ = ["make", "available", "from_text", *_LEARNERS]  # noqa: PLE0604  # all are strings


def available() -> dict[str, type[Learner]]:
    """Return all built-in learners by the name that scenarios use.

    Returns
    -------
    dict of str to type
        The class of each learner, by name.

    Examples
    --------
    >>> available()["hedge"]
    <class 'gamesim.players.hedge.Hedge'>
    """
    return dict(_BY_NAME)


def names() -> Any:
    """Return `available()`; deprecated name."""
    warn("gamesim.players.names", "gamesim.players.available")
    return available()


@overload
def make(name: "LearnerName", **settings: Any) -> Learner: ...
@overload
def make(name: str, **settings: Any) -> Learner: ...
def make(name: str, **settings: Any) -> Learner:
    """Return a learner by name, with the given settings.

    Parameters
    ----------
    name : str
        Name of a built-in learner, one of `available()`, or the reference of a compiled learner in a file that was
        allowed, see `gamesim.user_files`.
    **settings
        Settings of the learner, as documented in its class.

    Returns
    -------
    Learner
        The configured learner.

    Raises
    ------
    InputError
        If the name or a setting is unknown, or a setting has an invalid value.

    Examples
    --------
    >>> make("hedge", rate=0.1)
    Hedge(rate=0.1)
    >>> make("blum-mansour", rows={"learner": "ftrl", "optimistic": True}).rows
    FTRL(regulariser='entropic', optimistic=True, rate=None)
    """
    if user_files.is_reference(name):
        kind = user_files.named(name)
        if not (isinstance(kind, type) and issubclass(kind, Learner)):
            raise InputError(f"{user_files.shown(name)} must be a subclass of Learner, because it is used by a learner")
        return configured(kind, settings)
    known = available()
    if name not in known:
        raise unknown("learner", name, known)
    return configured(known[name], settings)


def configured(kind: type[Learner], settings: Mapping[str, Any]) -> Learner:
    """Return a learner of a class, built-in or user-defined, with these settings."""
    from pydantic import ValidationError

    name, allowed = kind.name, [field.name for field in fields(kind)]
    for key in settings:
        if key not in allowed:
            raise unknown_setting(name, key, allowed)
    given = {key: _with_learner(value) for key, value in settings.items()}
    try:
        learner: Learner = _adapter(kind).validate_python(given)  # type: ignore[arg-type]  # classes are hashable
    except ValidationError as error:
        first = error.errors()[0]
        if isinstance(cause := first.get("ctx", {}).get("error"), InputError):
            raise InputError(f"{name}: {cause}") from None
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{name}: {where}: {first['msg']}, got {shown(first['input'])}") from None
    return learner


def from_text(text: str) -> Learner:
    """Return a learner from its notation on the command line.

    Parameters
    ----------
    text : str
        A name, optionally followed by settings.

    Returns
    -------
    Learner
        The configured learner.

    Raises
    ------
    InputError
        If the text is malformed, or a name or setting is unknown.

    Examples
    --------
    >>> from_text("hedge:rate=0.1")
    Hedge(rate=0.1)
    >>> from_text("blum-mansour:rows=ftrl(optimistic=true)").rows
    FTRL(regulariser='entropic', optimistic=True, rate=None)
    """
    name, *settings = notation.split(text, ":")
    return make(name, **notation.settings(settings, text))


def _with_learner(value: Any) -> Any:
    """Return a setting with a table that describes a learner replaced by the learner."""
    if not isinstance(value, dict) or "learner" not in value:
        return value
    return make(value["learner"], **{key: one for key, one in value.items() if key != "learner"})


@cache
def _adapter(kind: type[Learner]) -> Any:
    """Return the type adapter of a learner, cached because construction is slow."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
