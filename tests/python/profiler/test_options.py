"""Options: what profiles have beside torch's arguments, as keyword arguments, as an object, and in an _ExperimentalConfig."""

import dataclasses
import pickle

import pytest
from mindtorch_v2.profiler import Options, _ExperimentalConfig, profile, schedule, take_over

NAMES = [option.name for option in dataclasses.fields(Options)]


def calls_recorded(**arguments):
    return profile(activities=["cpu"], **arguments).python_calls


@pytest.mark.parametrize("with_stack", [False, True])
@pytest.mark.parametrize(("value", "without_stacks", "with_stacks"), [("off", False, False), ("stacks", False, True), ("all", True, True)])
def test_one_option_says_whether_python_calls_are_recorded(value, without_stacks, with_stacks, with_stack):
    expected = with_stacks if with_stack else without_stacks
    assert calls_recorded(with_stack=with_stack, python_calls=value) is expected
    assert calls_recorded(with_stack=with_stack, experimental_config=_ExperimentalConfig(python_calls=value)) is expected


def test_truth_values_are_all_and_off():
    assert Options(python_calls=True) == Options(python_calls="all")
    assert Options(python_calls=False) == Options()


@pytest.mark.parametrize("name", ["verbose", "adjust_profiler_step"])
def test_torchs_options_about_python_calls_set_the_same_option(name):
    config = _ExperimentalConfig(**{name: True})
    later = _ExperimentalConfig()
    setattr(later, name, True)
    assert config.python_calls == later.python_calls == "stacks"
    assert calls_recorded(with_stack=True, experimental_config=config)
    assert not calls_recorded(with_stack=True, experimental_config=config, python_calls="off")
    assert _ExperimentalConfig(python_calls="all", **{name: True}).python_calls == "all"


def test_the_environment_changes_nothing(monkeypatch):
    monkeypatch.setenv("MINDTORCH_PYTHON_CALLS", "1")
    assert not calls_recorded(with_stack=True)


def test_taken_over_profiles_can_record_calls_with_stacks_as_torch_does():
    with take_over(python_calls=True):
        assert calls_recorded(with_stack=True) and not calls_recorded()
        assert not calls_recorded(with_stack=True, python_calls="off")
    assert not calls_recorded(with_stack=True)


def test_a_keyword_argument_has_the_effect_that_it_has_in_a_config(op):
    def steps_of(**arguments):
        with profile(activities=["cpu"], schedule=schedule(wait=0, warmup=0, active=9), **arguments) as prof:
            for _ in range(5):
                op("aten::mul")
                prof.step()
        return [event.name for event in prof.events() if event.name.startswith("ProfilerStep")]

    kept = steps_of(keep_last_steps=2)
    assert 0 < len(kept) < len(steps_of())
    assert kept == steps_of(**vars(Options(keep_last_steps=2))) == steps_of(experimental_config=_ExperimentalConfig(keep_last_steps=2))


def test_a_keyword_argument_comes_before_a_config_which_stays_as_it_is():
    config = _ExperimentalConfig(python_calls="all", trace_only=True)
    prof = profile(activities=["cpu"], experimental_config=config, python_calls="off")
    assert not prof.python_calls and prof.trace_only
    assert prof.experimental_config is config and config.python_calls == "all"


@pytest.mark.parametrize("name", NAMES)
def test_none_says_nothing(name):
    profile(activities=["cpu"], **{name: None})


def test_an_unknown_option_is_refused_as_an_unknown_argument_is():
    with pytest.raises(TypeError, match=r"profile\.__init__\(\) got an unexpected keyword argument 'keep_first_steps'$"):
        profile(keep_first_steps=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep_last_steps": "5"}, TypeError, "^keep_last_steps must be a whole number, got '5'$"),
        ({"python_calls": "some"}, ValueError, '^python_calls must be "off", "stacks" or "all", got \'some\'$'),
        ({"cuda_graphs": "half"}, ValueError, '^cuda_graphs must be "nodes" or "whole", got \'half\'$'),
    ],
)
def test_a_wrong_value_is_refused_when_it_is_given(options, error, message):
    with pytest.raises(error, match=message):
        profile(**options)
    with pytest.raises(error, match=message):
        Options(**options)


def test_a_pickled_profile_has_its_options():
    prof = pickle.loads(pickle.dumps(profile(activities=["cpu"], python_calls="all", keep_last_steps=3)))
    assert prof.python_calls
    assert prof.__reduce_ex__(2)[1][2]["ours"] == {"python_calls": "all", "keep_last_steps": 3}
