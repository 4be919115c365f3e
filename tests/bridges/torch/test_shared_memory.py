"""CPU memory that does not pass the current allocator of torch: memory that processes share, and storages that Python makes."""

import copy
import json
import threading
from collections import Counter

import pytest
from mindtorch_v2.profiler import profile


def sizes_of(prof, folder):
    """How often each number of bytes was taken (positive) and given back (negative)."""
    prof.export_chrome_trace(str(folder / "trace.json"))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    return Counter(event["args"]["Bytes"] for event in events if event["name"] == "[memory]")


@pytest.fixture
def seen_by_both(torch, tmp_path):
    """seen_by_both(program) is what torch.profiler and ours see, each with a program that was made before it starts."""

    def profile_both(make_program):
        sizes = []
        for make in (torch.profiler.profile, profile):
            program = make_program()
            with make(profile_memory=True) as prof:
                program()
            sizes.append(sizes_of(prof, tmp_path))
        return sizes

    return profile_both


def test_batches_of_a_data_loaders_workers_are_recorded_as_in_torch(torch, seen_by_both):
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.randn(32, 1000)), batch_size=4, num_workers=2)
    model = torch.nn.Linear(1000, 3)

    def train():
        for (batch,) in loader:
            model(batch).sum().backward()

    train()
    theirs, ours = seen_by_both(lambda: train)
    assert ours == theirs
    assert ours[16000] == ours[-16000] == 8


def test_memory_that_is_shared_is_recorded_when_it_is_mapped_and_unmapped(torch, seen_by_both):
    theirs, ours = seen_by_both(lambda: lambda: torch.empty(5000).share_memory_())
    assert ours == theirs
    assert ours[20000] == ours[-20000] == 2  # once from the allocator, and once as a mapping


def test_the_end_of_a_mapping_from_before_the_profile_is_recorded(torch, seen_by_both):
    def made_before():
        kept = [torch.empty(5000).share_memory_()]
        return kept.clear

    theirs, ours = seen_by_both(made_before)
    assert ours == theirs == {-20000: 1}


def test_ops_and_mappings_of_two_profiles_at_once_are_recorded_once_in_each(torch, tmp_path):
    def share():
        return torch.empty(5000).share_memory_()

    with profile(profile_memory=True) as ours:
        share()
        with torch.profiler.profile(profile_memory=True) as theirs:
            share()
        share()
    assert sizes_of(theirs, tmp_path)[20000] == 2
    # While torch.profiler runs on this thread, torch tells it alone of mappings.
    assert sizes_of(ours, tmp_path) == {20000: 5, -20000: 5}


def test_torchs_profiler_can_start_on_threads_that_ran_ops_during_ours(torch):
    recorded, found = threading.Event(), []

    def work():
        torch.ones(3)
        with torch.profiler.profile(profile_memory=True) as inside:
            torch.ones(3).add(1)
        recorded.set()
        session_over.wait(60)
        with torch.profiler.profile(profile_memory=True) as after:
            torch.ones(3).add(1)
        found.extend([event.name for event in prof.events()].count("aten::add") for prof in (inside, after))

    session_over = threading.Event()
    thread = threading.Thread(target=work)
    with profile(profile_memory=True) as ours:
        thread.start()
        recorded.wait(60)
    session_over.set()
    thread.join()
    assert found == [1, 1]
    assert [event.name for event in ours.events()].count("aten::add") == 1


def test_torchs_legacy_profiler_can_start_inside_ours(torch, tmp_path):
    from torch.autograd import profiler_legacy

    with profile(profile_memory=True) as ours:
        with profiler_legacy.profile() as inside:
            torch.ones(3).add(1)
        torch.empty(5000).share_memory_()
    for prof in (inside.function_events, ours.events()):
        assert [event.name for event in prof].count("aten::add") == 1
    assert sizes_of(ours, tmp_path)[20000] == 2, "reports come to ours again"


def test_storages_that_python_makes_are_recorded_as_in_torch(torch, seen_by_both):
    """They take their memory from torch's default allocator directly: copies of tensors by `copy`, and what is loaded from files."""

    def make_program():
        tensor = torch.ones(3000)
        return lambda: (torch.UntypedStorage(5000), copy.deepcopy(tensor), torch.ones(2))

    theirs, ours = seen_by_both(make_program)
    assert ours == theirs
    assert ours[5000] == ours[-5000] == ours[12000] == ours[8] == 1


def test_frees_of_storages_that_torchs_profiler_saw_before_are_not_taken_for_others(torch, tmp_path):
    with torch.profiler.profile(profile_memory=True):
        kept = [torch.UntypedStorage(5000), torch.ones(1000)]
    with profile(profile_memory=True) as prof:
        kept.clear()
        torch.ones(10)
    assert sizes_of(prof, tmp_path) == {40: 1, -40: 1}


def test_the_free_of_a_block_at_the_beginning_of_a_page_is_not_taken_for_the_end_of_a_mapping(torch, tmp_path):
    page = 4096
    with torch.profiler.profile(profile_memory=True):
        blocks = [torch.empty(16)]
        while blocks[-1].data_ptr() % page:
            blocks.append(torch.empty(16))
        del blocks[:-1]  # torch says of the last block that nothing else is left, as it does of a mapping
    with profile(profile_memory=True) as prof:
        blocks.clear()
        torch.ones(10)
    assert sizes_of(prof, tmp_path) == {40: 1, -40: 1}


def test_a_storage_that_python_makes_is_told_to_one_of_two_profilers_on_a_thread(torch, tmp_path):
    with profile(profile_memory=True) as ours:
        torch.UntypedStorage(5000)
        with torch.profiler.profile(profile_memory=True) as theirs:
            torch.UntypedStorage(7000)
    assert sizes_of(theirs, tmp_path) == {7000: 1, -7000: 1}
    assert sizes_of(ours, tmp_path) == {5000: 1, -5000: 1}


def test_torch_takes_a_free_for_that_of_an_earlier_block_at_its_address_and_ours_does_not(torch, tmp_path):
    count = 12_000_000  # the system has a mapping for each block of this size, and gives its address to the next one
    for make, expected in ((torch.profiler.profile, {-4 * count: 1}), (profile, {})):
        blocks = [torch.empty(1)]
        with make(profile_memory=True):
            blocks.append(torch.empty(count))
        address = blocks[-1].data_ptr()
        blocks.clear()  # unseen
        blocks.append(torch.empty(count))
        if blocks[0].data_ptr() != address:
            pytest.skip("the system gave another address")
        with make(profile_memory=True) as prof:
            blocks.clear()
        assert sizes_of(prof, tmp_path) == expected
