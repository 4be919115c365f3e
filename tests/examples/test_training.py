"""The training examples: the loss falls, the same seed gives the same loss, on the CPU and on the reference NPU alike."""

import os
import subprocess

import pytest

EXAMPLES = [("train_mlp", 30), ("train_cnn", 6), ("train_gpt", 4)]


def last_line(path, steps, *arguments, **environment):
    """The line with the losses; the program itself fails if the loss has not fallen."""
    command = [str(path), "--steps", str(steps), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(("name", "steps"), EXAMPLES)
def test_the_same_seed_gives_the_same_loss(program, name, steps):
    line = last_line(program(name), steps)
    assert line.startswith("loss ") and line.endswith(f"in {steps} steps on cpu")
    assert line == last_line(program(name), steps)


@pytest.mark.parametrize(("name", "steps"), EXAMPLES)
def test_an_npu_gives_the_loss_of_the_cpu(program, name, steps):
    there = last_line(program(name), steps, "--device", "npu", MINDTORCH_NPU="reference")
    assert there.replace("npu:0", "cpu") == last_line(program(name), steps)


def test_wrong_arguments_are_explained(program):
    for arguments in (["--steps", "0"], ["--steps", "many"], ["--trace"], ["--speed"]):
        result = subprocess.run([str(program("train_mlp")), *arguments], capture_output=True, text=True, timeout=60)
        assert result.returncode == 2
        assert result.stderr.startswith("usage: train_mlp [--steps N]")
