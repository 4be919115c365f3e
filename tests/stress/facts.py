"""What both sides know: the programs that record, and the cases that look at what was recorded."""

# One turn is a scope and the op in it: `scope K` around the sum of two tensors of K + 1 elements, K being the turn's number modulo SIZES.
SIZES = 50
EVENTS_OF_A_TURN = 2
# Losses of these reasons are events that are missing; of the others the event is there, with less than it should have.
MISSING_EVENTS = {"budget", "overwritten", "spill_failed", "damaged_file", "thread_exit"}
# An event of the profiler's own.
WAITING = "profiler: waiting for the spill file"
