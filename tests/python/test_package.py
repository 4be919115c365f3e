"""The package as such: it can be imported, quickly and without PyTorch."""

import mindtorch_v2


def test_an_argument_assertion_is_a_value_error_and_an_assertion_error():
    assert issubclass(mindtorch_v2.ArgumentAssertionError, ValueError)
    assert issubclass(mindtorch_v2.ArgumentAssertionError, AssertionError)
