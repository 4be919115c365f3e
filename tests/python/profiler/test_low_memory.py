"""Where memory is short, recording ends with what can be read, and says what is missing."""

import json
import subprocess
import sys

PROGRAM = """
import json, resource, sys
from mindtorch_v2.profiler import profile, record_function

def pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0])

COUNT, spare = 1_000_000, int(sys.argv[1]) << 20
scope = record_function("scope")
prof = profile(activities=["cpu"])
prof.start()
for _ in range(COUNT):
    with scope:
        pass
resource.setrlimit(resource.RLIMIT_AS, (pages() * resource.getpagesize() + spare, resource.RLIM_INFINITY))
prof.stop()
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
losses = [(loss.reason, loss.count, loss.detail) for loss in prof.losses()]
with profile(activities=["cpu"]) as next_one:
    with scope:
        pass
print(json.dumps({"events": len(prof.events()), "losses": losses, "next": len(next_one.events())}))
"""


def recorded_with(spare_mb):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(spare_mb)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Rule: losses.memory
def test_the_newest_events_are_kept_and_the_others_are_counted():
    answer = recorded_with(spare_mb=24)
    ((_, lost, detail),) = answer["losses"]
    assert "no memory left" in detail
    assert answer["events"] > 0 and answer["events"] + lost == 1_000_000
    assert answer["next"] == 1


def test_with_enough_memory_nothing_is_lost():
    assert recorded_with(spare_mb=1024) == {"events": 1_000_000, "losses": [], "next": 1}
