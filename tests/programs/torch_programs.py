"""Programs that use parts of PyTorch which most libraries do not touch, with tiny models. Each function returns what is profiled."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def _mlp():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))


def _training(model, inputs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        model(inputs).square().mean().backward()
        optimizer.step()

    return step


def _join_group():
    """One of two processes, which find each other by a file that the test names."""
    torch.distributed.init_process_group("gloo", init_method=os.environ["GROUP"], rank=int(os.environ["RANK"]), world_size=2)


def ddp_step():
    _join_group()
    return _training(nn.parallel.DistributedDataParallel(_mlp()), torch.randn(4, 8))


def fsdp_step():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    _join_group()
    model = _mlp()
    for layer in model:
        fully_shard(layer, mesh=init_device_mesh("cpu", (2,)))
    return _training(model, torch.randn(4, 8))


def collectives_without_waiting():
    """Collectives that run while ops do, and one that is waited for at once."""
    _join_group()

    def exchange():
        values = torch.ones(16)
        work = [torch.distributed.all_reduce(values, async_op=True)]
        parts = [torch.empty(16) for _ in range(2)]
        work.append(torch.distributed.all_gather(parts, torch.ones(16), async_op=True))
        torch.mm(torch.ones(4, 4), torch.ones(4, 4))
        for each in work:
            each.wait()
        torch.distributed.broadcast(values, src=0)

    return exchange


def compiled_step():
    model = torch.compile(_mlp(), backend="aot_eager")
    return _training(model, torch.randn(4, 8))


def scripted_step():
    return _training(torch.jit.script(_mlp()), torch.randn(4, 8))


def workers_of_a_data_loader():
    loader = DataLoader(TensorDataset(torch.randn(16, 8)), batch_size=4, num_workers=2)
    model = _mlp()
    return lambda: [model(batch) for (batch,) in loader]


def functional_transforms():
    weights, inputs = torch.randn(8, 4), torch.randn(5, 8)

    def loss(weights, one):
        return (one @ weights).tanh().sum()

    def transform():
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weights, inputs)
        torch.func.jacrev(lambda one: one @ weights)(inputs[0])
        torch.func.hessian(lambda one: (one**3).sum())(inputs[0])

    return transform


def sparse_products():
    dense = torch.randn(6, 6).relu()
    other = torch.randn(6, 3, requires_grad=True)

    def multiply():
        torch.sparse.mm(dense.to_sparse(), other).sum().backward()
        return dense.to_sparse_csr() @ other.detach()

    return multiply


def quantized_layers():
    model = torch.ao.quantization.quantize_dynamic(_mlp().eval(), {nn.Linear}, dtype=torch.qint8)
    inputs = torch.randn(4, 8)
    return lambda: model(inputs)


def nested_tensors():
    query = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)])
    jagged = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged)
    layer = nn.Linear(8, 8)
    return lambda: (layer(query).to_padded_tensor(0.0), layer(jagged).relu())


class _Clipped(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        context.save_for_backward(values)
        return values.clamp(-0.5, 0.5)

    @staticmethod
    def backward(context, gradient):
        (values,) = context.saved_tensors
        return gradient * (values.abs() < 0.5)


def recomputed_layers():
    """Checkpointing, a function with a derivative of its own, hooks, and a derivative of a derivative."""
    from torch.utils.checkpoint import checkpoint

    model, inputs = _mlp(), torch.randn(4, 8, requires_grad=True)
    model[0].register_full_backward_hook(lambda module, into, out: None)

    def step():
        out = _Clipped.apply(checkpoint(model, inputs, use_reentrant=False))
        (gradient,) = torch.autograd.grad(out.square().sum(), inputs, create_graph=True)
        gradient.square().sum().backward()

    return step


def mixed_precision():
    model, inputs = _mlp(), torch.randn(4, 8)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)

    def step():
        optimizer.zero_grad(set_to_none=False)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(inputs).float().square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def recurrent_and_complex():
    network, signal = nn.LSTM(8, 16, num_layers=2, batch_first=True), torch.randn(2, 6, 8)

    def step():
        network(signal)[0].sum().backward()
        return torch.fft.irfft(torch.fft.rfft(signal) * 2, n=8), torch.linalg.svd(signal)

    return step
