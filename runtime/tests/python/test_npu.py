"""The NPU from Python: honest without one, complete on the reference device."""

import os
import subprocess
import sys
import textwrap

import mindtorch_v2 as torch
import pytest


def run(code, **environment):
    """Runs Python code in a process of its own: the device is chosen once a process."""
    environment = {k: v for k, v in os.environ.items() if k != "MINDTORCH_NPU"} | environment
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


def on_reference(code):
    return run("import mindtorch_v2 as torch\n" + textwrap.dedent(code), MINDTORCH_NPU="reference")


@pytest.mark.skipif("MINDTORCH_NPU" in os.environ, reason="a device was asked for")
def test_without_a_device_the_answers_are_honest():
    if torch.npu.is_available():
        pytest.skip("there is an NPU")
    assert torch.npu.device_count() == 0 and torch.npu.unavailable_reason()
    for call in (
        lambda: torch.ones(2, device="npu"),
        torch.npu.synchronize,
        torch.npu.current_device,
        torch.npu.memory_allocated,
        torch.npu.Stream,
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError, match="unknown provider 'abacus'"):
        torch.npu.use_provider("abacus")
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0


def test_tensors_live_and_compute_on_the_device():
    print(
        on_reference(
            """
            assert torch.npu.is_available() and torch.npu.device_count() >= 1 and torch.npu.provider_name() == "reference"
            x = torch.ones((2, 2), device="npu")
            assert x.is_npu and str(x.device) == "npu:0" and x.device == torch.device("npu", 0)
            y = (x + 1) * 3
            assert y.tolist() == [[6.0, 6.0], [6.0, 6.0]] and y.sum().item() == 24.0
            assert repr(y[0]) == "tensor([6., 6.], device='npu:0')"
            assert y.cpu().device.type == "cpu" and torch.arange(3).npu().tolist() == [0, 1, 2]
            try:
                x.numpy()
            except TypeError as error:
                assert "can't convert npu:0 device type tensor to numpy" in str(error)
            else:
                raise AssertionError
            assert x.numpy(force=True).tolist() == [[1.0, 1.0], [1.0, 1.0]]
            x[0, 1] = 7
            assert x[:, torch.tensor([1])].tolist() == [[7.0], [1.0]]
            """
        )
    )


def test_gradients_and_hooks_work_on_the_devices_thread():
    on_reference(
        """
        import threading
        x = torch.ones(3, device="npu", requires_grad=True)
        seen = []
        x.register_hook(lambda g: seen.append(threading.get_ident()) or g * 2)
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2
            @staticmethod
            def backward(ctx, g):
                return g * 2
        Double.apply(x * x).sum().backward()
        assert x.grad.tolist() == [8.0, 8.0, 8.0] and x.grad.is_npu and len(seen) == 1
        def fail(g):
            raise ValueError("mine")
        y = torch.ones(1, device="npu", requires_grad=True)
        y.register_hook(fail)
        try:
            (y * 2).sum().backward()
        except ValueError as error:
            assert str(error) == "mine"
        else:
            raise AssertionError
        """
    )


def test_modules_train_on_the_device():
    on_reference(
        """
        torch.manual_seed(0)
        def train(device):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
            x = torch.ones(3, 4).to(device)
            losses = []
            for _ in range(5):
                loss = torch.nn.functional.mse_loss(model(x), torch.zeros(3, 2).to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses
        assert train("npu") == train("cpu")
        """
    )


def test_memory_is_counted():
    on_reference(
        """
        npu = torch.npu
        before = npu.memory_allocated()
        x = torch.ones(1000, device="npu")
        npu.synchronize()
        assert npu.memory_allocated() - before == 4096 and npu.max_memory_allocated() >= npu.memory_allocated()
        assert npu.memory_reserved() >= npu.memory_allocated()
        assert npu.memory_stats()["allocated_bytes.all.current"] == npu.memory_allocated()
        free, total = npu.mem_get_info()
        assert 0 < free <= total and "allocated" in npu.memory_summary()
        del x
        assert npu.memory_allocated() == before
        npu.reset_peak_memory_stats()
        assert npu.max_memory_allocated() == before
        npu.empty_cache()
        """
    )


def test_streams_and_events_order_work():
    on_reference(
        """
        npu = torch.npu
        side = npu.Stream()
        assert side != npu.default_stream() and npu.current_stream() == npu.default_stream() and side.stream_id != 1
        x = torch.ones(2000, device="npu")
        done = npu.Event(enable_timing=True)
        start = npu.Event(enable_timing=True)
        start.record()
        ready = npu.current_stream().record_event()
        with npu.stream(side):
            assert npu.current_stream() == side
            side.wait_event(ready)
            y = x * 2
            done.record(side)
        assert npu.current_stream() == npu.default_stream()
        done.synchronize()
        side.synchronize()
        assert done.query() and side.query() and start.elapsed_time(done) >= 0
        npu.current_stream().wait_stream(side)
        assert y.sum().item() == 4000.0
        with npu.stream(None), npu.device(0):
            npu.synchronize()
        assert npu.current_device() == 0 and npu.get_device_name() == "reference NPU 0"
        """
    )


def test_events_of_the_device_are_recorded():
    on_reference(
        """
        from mindtorch_v2.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]) as prof:
            (torch.ones((2, 2), device="npu") + 1).cpu()
        assert any(e["device_type"] == "NPU" and "add" in e["name"] for e in prof.events())
        """
    )


def test_checkpoints_go_where_they_are_told():
    on_reference(
        """
        import tempfile, os
        path = os.path.join(tempfile.mkdtemp(), "x.pt")
        torch.save(torch.arange(3.0, device="npu"), path)
        assert torch.load(path).is_npu and torch.load(path, map_location="cpu").device.type == "cpu"
        """
    )
