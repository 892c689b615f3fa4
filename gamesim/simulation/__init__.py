"""Simulate learners playing a game."""

from gamesim.simulation.simulation import Simulation as Simulation
from gamesim.simulation.simulation import simulate as simulate

__all__ = ["Simulation", "simulate"]
