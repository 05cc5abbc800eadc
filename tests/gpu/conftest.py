from tests.race.conftest import race, request_of

__all__ = ["race", "request_of"]
