"""No error of ours ends a program that torch's profiler would not have ended: each wrong or unusual use, with both profilers."""

import warnings

import mindtorch_v2.autograd.profiler
import mindtorch_v2.profiler
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

SIDES = {
    "torch": (torch.profiler, torch.autograd.profiler),
    "ours": (mindtorch_v2.profiler, mindtorch_v2.autograd.profiler),
}


@pytest.fixture(autouse=True)
def bridge(bridged_torch):
    return bridged_torch


class Uses:
    """Each method is a use; the module under test is `self.profiler`, the older one `self.older`."""

    def __init__(self, side, folder):
        self.profiler, self.older = SIDES[side]
        self.cpu = self.profiler.ProfilerActivity.CPU
        self.folder = str(folder)

    def make(self, **options):
        return self.profiler.profile(**{"activities": [self.cpu], **options})

    def recorded(self, **options):
        with self.make(**options) as prof:
            torch.ones(2) * 2
        return prof

    def cycles(self, **numbers):
        return self.profiler.schedule(**{"wait": 0, "warmup": 0, "active": 1, **numbers})

    # The order of calls

    def step_before_start(self):
        self.make().step()

    def steps_before_start_with_a_schedule(self):
        prof = self.make(schedule=self.cycles(wait=1, warmup=1))
        for _ in range(4):
            prof.step()

    def steps_after_stop(self):
        prof = self.recorded(schedule=self.cycles(active=2, repeat=1))
        for _ in range(4):
            prof.step()

    def start_twice(self):
        prof = self.make()
        prof.start()
        prof.start()
        prof.stop()

    def stop_twice(self):
        self.recorded().stop()

    def stop_before_start(self):
        self.make().stop()

    def stop_before_start_in_a_step_without_work(self):
        self.make(schedule=self.cycles(wait=1)).stop()

    def stop_inside_of_the_block(self):
        with self.make(schedule=self.cycles(active=3)) as prof:
            prof.step()
            prof.stop()
            prof.step()

    def block_again(self):
        prof = self.recorded()
        with prof:
            pass

    def one_inside_another(self):
        with self.make():
            self.recorded().key_averages().table()

    def stop_in_the_handler(self):
        ready = []
        self.recorded(on_trace_ready=lambda prof: ready.append(1) or (len(ready) < 2 and prof.stop()))

    def step_in_the_handler(self):
        ready = []
        with self.make(schedule=self.cycles(), on_trace_ready=lambda prof: ready.append(1) or (len(ready) < 2 and prof.step())) as prof:
            prof.step()
            prof.step()

    def start_in_the_handler(self):
        ready = []
        prof = self.recorded(on_trace_ready=lambda prof: ready.append(1) or (len(ready) < 2 and prof.start()))
        prof.stop()

    def events_before_start(self):
        self.make().events()

    def averages_while_it_runs(self):
        with self.make() as prof:
            prof.key_averages()
            prof.events()

    def results_of_a_profile_that_only_waited(self):
        prof = self.make(schedule=self.cycles(wait=3))
        prof.start()
        prof.stop()
        prof.key_averages()

    def export_of_a_warmup(self):
        prof = self.make(schedule=self.cycles(warmup=3))
        prof.start()
        prof.stop()
        prof.export_chrome_trace(f"{self.folder}/trace.json")

    def switching_outside_of_a_trace(self):
        self.make().toggle_collection_dynamic(False, [self.cpu])

    def switching_what_is_not_recorded(self):
        with self.make() as prof:
            prof.toggle_collection_dynamic(False, [self.profiler.ProfilerActivity.CUDA])

    # Activities

    def activities(self, *names):
        with self.profiler.profile(activities=[getattr(self.profiler.ProfilerActivity, name) for name in names]):
            pass

    def xpu_only(self):
        self.activities("XPU")

    def cpu_and_xpu(self):
        self.activities("CPU", "XPU")

    def what_torchtune_asks_for(self):
        self.activities("CPU", "CUDA", "XPU")

    def cpu_and_hpu(self):
        self.activities("CPU", "HPU")

    def cpu_and_cuda(self):
        self.activities("CPU", "CUDA")

    def no_activities(self):
        self.activities()

    def an_activity_twice(self):
        self.activities("CPU", "CPU")

    # Schedules

    def schedule_that_returns_numbers(self):
        self.recorded(schedule=lambda step: 3)

    def schedule_that_returns_nothing(self):
        self.recorded(schedule=lambda step: None)

    def schedule_that_is_no_function(self):
        self.make(schedule=3)

    def schedule_with_real_numbers(self):
        self.cycles(wait=1.0, active=2.0)(3)

    def schedule_without_active_steps(self):
        self.cycles(active=0)

    # Files

    def export_into_a_missing_folder(self):
        self.recorded().export_chrome_trace(f"{self.folder}/none/trace.json")

    def compressed_export_into_a_missing_folder(self):
        self.recorded().export_chrome_trace(f"{self.folder}/none/trace.json.gz")

    def handler_of_a_folder_that_cannot_be_made(self):
        self.recorded(on_trace_ready=self.profiler.tensorboard_trace_handler("/proc/none"))

    # Attributes

    def every_attribute_set(self):
        for name in ATTRIBUTES:
            prof = self.make()
            setattr(prof, name, getattr(prof, name, None))
            with prof:
                prof.step()

    def record_steps_set(self):
        prof = self.make()
        prof.record_steps = True
        with prof:
            prof.step()

    def negative_step(self):
        with self.make() as prof:
            prof.step_num = -3
            prof.step()

    def real_step(self):
        with self.make() as prof:
            prof.step_num = 1.5
            prof.step()

    def metadata_that_is_no_text(self):
        with self.make() as prof:
            prof.add_metadata("key", 3)

    def metadata_before_and_after(self):
        prof = self.make()
        prof.add_metadata("key", "value")
        prof.preset_metadata["other"] = "1"
        with prof:
            pass
        prof.add_metadata_json("more", "2")

    # Results

    def table_sorted_by(self, key):
        self.recorded().key_averages().table(sort_by=key)

    def table_by_a_time_of_cuda(self):
        self.table_sorted_by("self_cuda_time_total")

    def table_by_a_time_of_xpu(self):
        self.table_sorted_by("self_xpu_time_total")

    def table_by_nothing_known(self):
        self.table_sorted_by("bogus")

    def stacks_without_stacks(self):
        self.recorded().export_stacks(f"{self.folder}/stacks.txt")

    def memory_timeline_without_memory(self):
        self.recorded().export_memory_timeline(f"{self.folder}/timeline.html")

    # Execution traces

    def observer(self, name="et.json"):
        return self.profiler.ExecutionTraceObserver().register_callback(f"{self.folder}/{name}")

    def observer_without_file(self):
        observer = self.profiler.ExecutionTraceObserver()
        observer.start()
        observer.stop()
        observer.unregister_callback()

    def observer_around_a_profile(self):
        observer = self.observer()
        observer.start()
        self.recorded()
        observer.stop()
        observer.unregister_callback()

    def two_observers(self):
        first, second = self.observer(), self.observer("second.json")
        for call in ("start", "stop", "unregister_callback"):
            for observer in (first, second):
                getattr(observer, call)()

    def observer_of_a_missing_folder(self):
        self.observer("none/et.json").unregister_callback()

    # The older profiler

    def older_inside_another(self):
        with self.older.profile(), self.older.profile():
            pass

    def older_twice(self):
        prof = self.older.profile()
        for _ in range(2):
            with prof:
                pass

    def older_on_cuda(self):
        with self.older.profile(use_device="cuda"):
            pass

    def older_without_the_cpu(self):
        with self.older.profile(use_cpu=False):
            pass

    def older_unfinished(self):
        str(self.older.profile())
        self.older.profile().key_averages()


ATTRIBUTES = [
    *("action_map", "activities", "activity_filters", "acc_events", "current_action", "custom_trace_id_callback", "experimental_config"),
    *("execution_trace_observer", "has_cudagraphs", "mem_tl", "on_trace_ready", "post_processing_timeout_s", "preset_metadata", "profiler"),
    *("profile_memory", "record_shapes", "record_steps", "schedule", "step_num", "step_rec_fn", "use_device", "with_flops", "with_modules"),
    *("with_stack", "_stats", "anything"),
]
HELPERS = ("make", "recorded", "cycles", "activities", "table_sorted_by", "observer")


def error_of(side, use, folder):
    folder.mkdir()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(Uses(side, folder), use)()
    except Exception as error:
        return type(error).__name__
    return None


@pytest.mark.parametrize("use", [name for name in vars(Uses) if not name.startswith("_") and name not in HELPERS])
def test_ours_fails_only_where_torchs_profiler_does(use, tmp_path):
    theirs, ours = (error_of(side, use, tmp_path / side) for side in SIDES)
    assert ours is None or theirs is not None
