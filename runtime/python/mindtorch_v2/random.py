"""The seed and the state of the default generator. All devices share it, so that a program draws the same numbers on each device."""

from mindtorch_v2._runtime import default_generator


def manual_seed(seed):
    """Restarts the stream of random numbers. Returns the generator."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Restarts the stream with a random seed. Returns the seed."""
    return default_generator.seed()


def initial_seed():
    """The seed that was set last."""
    return default_generator.initial_seed()


def get_rng_state():
    """The current position of the stream, for set_rng_state()."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Continues at a position that get_rng_state() returned."""
    default_generator.set_state(new_state)
