"""export_memory_timeline: the memory of PyTorch programs has the categories that torch finds."""

import gc
import gzip
import json
from collections import Counter

import pytest
from mindtorch_v2.profiler import profile

MEMORY = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def perceptron(torch):
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(16, 32), torch.randn(16, 8)

    def step():
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def convolutions(torch):
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.1), nn.Flatten(), nn.Linear(8 * 49, 10))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def transformer(torch):
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = nn.Sequential(nn.Embedding(50, 32), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(32, 50))
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, 50, (2, 12))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tokens).view(-1, 50), tokens.view(-1)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def inference(torch):
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).eval()
    x = torch.randn(16, 32)

    def step():
        with torch.no_grad():
            model(x).softmax(-1)

    return step


def accumulation(torch):
    """Gradients are added up, and the optimizer asks for results in tensors that it has."""
    model = torch.nn.Linear(32, 8)
    optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True, foreach=False)
    x = torch.randn(16, 32)

    def step():
        optimizer.zero_grad()
        for _ in range(2):
            (model(x) ** 2).mean().backward()
        optimizer.step()

    return step


def by_hand(torch):
    """No module and no optimizer tell what parameters are."""
    weight, bias = torch.randn(32, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    x, result = torch.randn(16, 32), torch.empty(16, 8)

    def step():
        (x @ weight + bias).relu().sum().backward()
        with torch.no_grad():
            for parameter in (weight, bias):
                parameter.sub_(parameter.grad * 0.1)
                parameter.grad = None
            torch.mm(x, weight, out=result)

    return step


def made_inside(torch):
    x, y = torch.randn(16, 32), torch.randn(16, 8)

    def step():
        model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return step


def sparse_gradients(torch):
    embedding = torch.nn.Embedding(20, 8, sparse=True)
    optimizer = torch.optim.SparseAdam(embedding.parameters())
    indices = torch.randint(0, 20, (6,))

    def step():
        embedding(indices).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def load(path):
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def exported(export, folder, raw):
    """The last row of each time, and the records: time in nanoseconds, action, bytes and category."""
    export(folder / "timeline.json", "cpu")
    return dict(zip(*load(folder / "timeline.json"), strict=True)), [tuple(record) for record in raw(folder, "cpu")]


def exported_by(prof, folder):
    def raw(folder, device):
        prof.export_memory_timeline(str(folder / "timeline.raw.json.gz"), device=device)
        return load(folder / "timeline.raw.json.gz")

    return exported(lambda path, device: prof.export_memory_timeline(str(path), device=device), folder, raw)


def without_times(records):
    return [record[1:] for record in records]


def rows_of(records):
    """What was held at the end of each microsecond, by records."""
    held, rows = [0] * 9, {}
    first = next(time for time, *_ in records if time >= 0)
    for time, _, size, category in records:
        held[1 + category] += size
        rows[(first if time < 0 else time) // 1000] = [*held]
    return rows


def most_of(records):
    """The most bytes of each category, by records."""
    held, most = Counter(), Counter()
    for _, _, size, category in records:
        held[category] += size
        most[category] = max(most[category], held[category])
    return most


def two_steps(profiler, step):
    gc.collect()
    with profiler(**MEMORY) as prof:
        for _ in range(2):
            step()
            prof.step()
    return prof


PROGRAMS = [perceptron, convolutions, transformer, inference, accumulation, by_hand, made_inside]


# Rule: memory.timeline


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("make", [*PROGRAMS, sparse_gradients])
def test_memory_has_the_categories_that_torch_finds(torch, make, tmp_path):
    found = []
    for profiler in (torch.profiler.profile, profile):
        torch.manual_seed(0)
        step = make(torch)
        found.append(exported_by(two_steps(profiler, step), tmp_path))
    (_, theirs), (_, ours) = found
    assert most_of(ours) == most_of(theirs)
    assert Counter(without_times(ours)) == Counter(without_times(theirs))


# Memory that a program made before the profile and frees in it is at addresses that differ from run to run. So the analysis is compared, of
# one run.
@pytest.mark.parametrize("make", PROGRAMS)
def test_the_timeline_of_later_steps_is_that_of_the_analysis_of_torch(torch, make, tmp_path):
    from torch.profiler._memory_profiler import MemoryProfileTimeline

    step = make(torch)
    step()
    prof = two_steps(profile, step)
    torchs = MemoryProfileTimeline(prof._memory_profile())

    def raw(folder, device):
        torchs.export_memory_timeline_raw(str(folder / "raw.json"), device)
        return load(folder / "raw.json")

    their_rows, theirs = exported(lambda path, device: torchs.export_memory_timeline(str(path), device), tmp_path, raw)
    our_rows, ours = exported_by(prof, tmp_path)
    assert without_times(ours) == without_times(theirs)
    # Torch divides times as real numbers, so a change near the end of a microsecond may be in the next one.
    assert our_rows == rows_of(ours)
    assert list(our_rows.values())[-1] == list(their_rows.values())[-1]


def test_the_state_of_an_optimizer_is_in_the_timeline(torch, tmp_path):
    step = perceptron(torch)
    step()
    rows, records = exported_by(two_steps(profile, step), tmp_path)
    moments = 2 * 4 * (32 * 64 + 64 + 64 * 8 + 8)
    before = [size for _, action, size, category in records if (action, category) == (1, 1)]
    assert sum(before) >= moments
    assert max(row[2] for row in rows.values()) >= moments
    assert 3 in {action for _, action, _, _ in records}, "changes of versions"
