"""Traces of the ranks of a made-up job, as torch.profiler writes them with and without a GPU. The truth about them is known."""

import gzip
import json
import random


class Job:
    """Ranks that work, meet in an all-reduce and go on. Times are microseconds."""

    def __init__(self, ranks=4, steps=6, slow=None, slow_us=5000.0, slow_op="aten::slow", offsets_us=None, seed=1, gpu=False, ops=20):
        self.ranks, self.steps, self.slow, self.slow_us, self.slow_op, self.gpu, self.ops = ranks, steps, slow, slow_us, slow_op, gpu, ops
        self.offsets = offsets_us or {}
        self.rng = random.Random(seed)

    def traces(self):
        """For each rank, its number and the content of its file."""
        events = [[] for _ in range(self.ranks)]
        now = [1e9] * self.ranks
        for step in range(self.steps):
            began, entered = list(now), []
            for rank in range(self.ranks):
                entered.append(self._work(rank, step, now[rank], events[rank]))
            left = max(entered) + 200.0
            for rank in range(self.ranks):
                self._collective(rank, step, entered[rank], left, events[rank])
                now[rank] = left + self.rng.random() * 20
                self._add(events[rank], rank, "user_annotation", f"ProfilerStep#{step}", began[rank], now[rank])
        for rank in range(self.ranks):
            info = {"backend": "nccl" if self.gpu else "gloo", "rank": rank, "world_size": self.ranks}
            yield rank, {"schemaVersion": 1, "distributedInfo": info, "traceEvents": events[rank]}

    def _add(self, events, rank, category, name, start, end, **fields):
        offset = self.offsets.get(rank, 0.0)
        entry = {"ph": "X", "cat": category, "name": name, "pid": rank, "tid": 1, "ts": start + offset, "dur": end - start, "args": {}}
        events.append({**entry, **fields})

    def _work(self, rank, step, now, events):
        ops = [(f"aten::op{k}", 40.0 + k) for k in range(self.ops)]
        if rank == self.slow:
            ops.insert(3, (self.slow_op, self.slow_us))
        for place, (name, typical) in enumerate(ops):
            end = now + typical * self.rng.gauss(1, 0.002)
            self._add(events, rank, "cpu_op", name, now, end)
            if self.gpu:
                number = step * 10_000 + place + 1
                self._launch(events, rank, number, now + 1)
                self._kernel(events, rank, f"kernel_{place % 7}", now + 8, end - 2, 7, number)
                if place == self.ops // 2:  # communication beside kernels
                    self._launch(events, rank, number + 5_000, now + 6)
                    self._kernel(events, rank, "ncclDevKernel_Broadcast_RING_LL", now + 12, end + 25, 20, number + 5_000)
            now = end + 2
        return now

    def _launch(self, events, rank, number, now):
        self._add(events, rank, "cuda_runtime", "cudaLaunchKernel", now, now + 4, args={"correlation": number})

    def _kernel(self, events, rank, name, start, end, stream, number, **args):
        arguments = {"device": 0, "stream": stream, "correlation": number, **args}
        self._add(events, rank, "kernel", name, start, end, pid=0, tid=stream, args=arguments)

    def _collective(self, rank, step, entered, left, events):
        if not self.gpu:
            self._add(events, rank, "user_annotation", "gloo:all_reduce", entered, left)
            return
        number = step * 10_000 + 9_999
        about = {"Collective name": "allreduce", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "Float", "Seq": step}
        self._launch(events, rank, number, entered - 8)
        self._kernel(
            events, rank, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", entered, left, 20, number, **about, **{"Process Group Name": "0"}
        )

    def write(self, folder, suffix=".json"):
        """One line for each event, and a space after each colon: other tools look for `"rank": 3` line by line."""
        for rank, trace in self.traces():
            header = [f'"{key}": {json.dumps(value)},' for key, value in trace.items() if key != "traceEvents"]
            events = ",\n".join(map(json.dumps, trace["traceEvents"]))
            text = "\n".join(["{", *header, '"traceEvents": [', events, "]}"])
            path = folder / f"trace-{rank}{suffix}"
            path.write_bytes(gzip.compress(text.encode(), 1)) if suffix.endswith(".gz") else path.write_text(text)
        return folder
