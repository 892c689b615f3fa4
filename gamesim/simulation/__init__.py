"""Simulate learners playing a game."""

from gamesim.simulation.facing import face as face
from gamesim.simulation.simulation import Simulation as Simulation
from gamesim.simulation.simulation import simulate as simulate

__all__ = ["Simulation", "face", "simulate"]
