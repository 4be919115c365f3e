"""The seed and the state of the default generator. All devices draw from it, so that a program gives the same numbers on each."""

from mindtorch_v2._C import default_generator


def manual_seed(seed):
    """Starts the stream of random numbers anew; returns the generator."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Starts the stream at a place nobody can predict; returns the seed."""
    return default_generator.seed()


def initial_seed():
    """The seed that was set last."""
    return default_generator.initial_seed()


def get_rng_state():
    """Where the stream is now, for set_rng_state()."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Goes on from a place that get_rng_state() gave."""
    default_generator.set_state(new_state)
