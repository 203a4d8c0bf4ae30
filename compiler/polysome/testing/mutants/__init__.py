"""How good properties are: a spec with one fault in it should not pass its own tests."""

from polysome.testing.mutants.mutant import Mutant, mutants
from polysome.testing.mutants.trial import SpecFails
from polysome.testing.mutants.trials import Found, Mutants, Verdict, on_processes

__all__ = ["Found", "Mutant", "Mutants", "SpecFails", "Verdict", "mutants", "on_processes"]
