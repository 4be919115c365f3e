"""ExecutionTraceObserver: the calls of a program with their callers and arguments, as a Chakra execution trace."""

from __future__ import annotations

import json
import os
import tempfile

from mindtorch_v2._C import _ExecutionTrace
from mindtorch_v2.base.distributed import process_groups
from mindtorch_v2.base.warnings import warn

__all__ = ["ExecutionTraceObserver"]


class ExecutionTraceObserver:
    """Writes what happens between start() and stop() to a file, in the schema of torch's observer of this name.

    It can be given to a profile (`execution_trace_observer=`), which starts and stops it, or be used alone. torch's ops have inputs,
    outputs and schemas in it. Other ops have inputs if the profile records shapes, or if it is used alone. One observer at a time can be
    registered in a process.

        observer = ExecutionTraceObserver().register_callback("et.json")
        with profile(execution_trace_observer=observer):
            train_step()
    """

    def __init__(self) -> None:
        self._trace = _ExecutionTrace()
        self.extra_resources_collection = False
        self.resources_dir: str = ""
        self.output_file_path: str = ""

    def __del__(self) -> None:
        if hasattr(self, "_trace"):  # it is missing if __init__ or a copy failed
            self.unregister_callback()

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "_trace"}

    def __setstate__(self, state: dict) -> None:
        """A copy is not registered, so that its end does not end the trace of the original."""
        self._trace = _ExecutionTrace()
        vars(self).update(state)

    @staticmethod
    def build_execution_trace_obs_from_env() -> ExecutionTraceObserver | None:
        """An observer that writes to a temporary file if ENABLE_PYTORCH_EXECUTION_TRACE is 1, else None."""
        if os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE", "0") != "1":
            return None
        try:
            descriptor, path = tempfile.mkstemp(suffix=".et.json")
        except OSError as error:
            warn(f"Execution trace will not be recorded. Exception on creating default temporary file: {error}")
            return None
        os.close(descriptor)
        observer = ExecutionTraceObserver().register_callback(path)
        observer.set_extra_resource_collection(os.environ.get("ENABLE_PYTORCH_EXECUTION_TRACE_EXTRAS", "0") == "1")
        return observer

    def register_callback(self, output_file_path: str) -> ExecutionTraceObserver:
        """The file to write (".gz": compressed), at unregister_callback(). Does nothing if there is one already.

        While another observer is registered, this one is not, and warns.
        """
        if not self.is_registered:
            self.output_file_path = os.fspath(output_file_path)
            try:
                self._trace.register_output(self.output_file_path)
            except RuntimeError as error:
                warn(f"This execution trace will not be recorded: {error}")
        return self

    def unregister_callback(self) -> None:
        """Stops and writes the file. A file that cannot be written is a warning, as in torch; an OSError if it were compressed."""
        try:
            self._trace.unregister()
        except OSError as error:
            if self.output_file_path.endswith(".gz"):
                raise
            warn(f"The execution trace was not written: {error.strerror}.")

    @property
    def is_registered(self) -> bool:
        """True between register_callback() and unregister_callback()."""
        return self._trace.registered

    def is_running(self) -> bool:
        """True between start() and stop()."""
        return self._trace.running

    _registered = is_registered
    _execution_trace_running = property(is_running)

    def start(self) -> None:
        """Starts to collect if a callback is registered."""
        if self.is_registered and (groups := process_groups()):
            self._trace.set_process_groups(json.dumps(groups))
        self._trace.start()

    def stop(self) -> None:
        """Stops collecting. It may be started again."""
        self._trace.stop()

    def cleanup(self) -> None:
        """Writes the file. A profile calls it when it is closed."""
        self.unregister_callback()

    def get_output_file_path(self) -> str | None:
        """The registered path; None if no path was ever registered."""
        return self.output_file_path or None

    def set_extra_resource_collection(self, val: bool) -> None:
        """Makes a folder beside the file for the resources of a replay. It stays empty, because no kernels are generated."""
        self.extra_resources_collection = val
        if val:
            self.get_resources_dir(can_create=True)

    def get_resources_dir(self, can_create: bool = False) -> str | None:
        """The folder for extra resources; None if they are not collected or the folder does not exist."""
        if not self.extra_resources_collection:
            return None
        if not self.resources_dir:
            self.resources_dir = self.get_resources_dir_for_et_path(self.output_file_path, create_dir=can_create) or ""
        return self.resources_dir or None

    @staticmethod
    def get_resources_dir_for_et_path(trace_path: str, create_dir: bool = False) -> str | None:
        """The folder "<stem>_resources" beside a trace; None if it does not exist."""
        folder, name = os.path.split(trace_path)
        resources = os.path.join(folder, os.path.splitext(name)[0] + "_resources")
        if not os.path.exists(resources):
            if not create_dir:
                return None
            try:
                os.mkdir(resources)
            except OSError:
                warn(f"Execution trace exception when creating {resources}")
                return None
        return resources
