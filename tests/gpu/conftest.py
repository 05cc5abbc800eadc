from tests.cli.conftest import cli
from tests.race.conftest import race, request_of

__all__ = ["cli", "race", "request_of"]
