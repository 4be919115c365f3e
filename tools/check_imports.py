"""Checks which modules of the Python package import which: its rooms, cycles, and imports inside functions.

Usage: check_imports.py [ROOT]. Prints file:line and the rule for each violation; exit status 1 if there is any.
The tables below are the rule; everything after them is machinery.
"""

import ast
import re
import sys
from pathlib import Path

PACKAGE = "mindtorch_v2"

# Room -> the rooms that its modules may import besides itself. A room is a folder of the package or a module of it; what is not listed
# belongs to the nearest listed folder above it. Everybody may import the compiled module `_C`.
ROOMS = {
    "": [],  # it imports everything else, the embedded runtime too, when a program first asks for it
    "autograd": [],
    "base": [],
    "events": ["base"],
    "capture": ["base"],
    "torch_bridge": ["base", "capture"],
    "profiler": ["base", "events", "capture", "torch_bridge"],
    "monitor": ["base", "profiler"],
    "compat": ["base", "monitor", "profiler", "torch_bridge"],
    "autograd/profiler_util.py": ["base", "events"],
    "autograd/profiler.py": ["base", "events", "profiler", "compat", "torch_bridge", "autograd/profiler_util.py"],
    "cli": ["base", "profiler", "monitor", "compat", "torch_bridge", ""],
    "profiler/__main__.py": ["cli"],
    "fleet": ["cli", "profiler"],
}

# Imports inside functions: module -> what it imports when it needs it, and why not before. They may go to any room.
LATE = {
    "cli/run/site/_mindtorch_run_hook.py": {"cli/run/process.py": "every Python process of a program imports the hook"},
    "cli/run/site/_mindtorch_take_over_hook.py": {"compat/take_over.py": "every Python process of a program imports the hook"},
    "fleet/_job.py": {"fleet/_dask.py": "Dask need not be installed"},
    "profiler/__init__.py": {
        "compat/take_over.py": "that room is built on this one",
        "monitor/handlers.py": "that room is built on this one",
        "monitor/monitor.py": "that room is built on this one",
    },
    "profiler/_kineto_profile.py": {"autograd/profiler.py": "torch's older profile is built on this one; few programs ask for it"},
    "torch_bridge/__init__.py": {
        "torch_bridge/compiler.py": "only a machine without a bridge builds one",
        "torch_bridge/layout.py": "only a machine without a bridge builds one",
        "torch_bridge/library.py": "only a program that uses torch loads the bridge",
    },
    "torch_bridge/compilers.py": {"torch_bridge/dynamo.py": "it imports torch's compiler"},
    "torch_bridge/modules.py": {"capture/modules.py": "only profiles of modules need it"},
}

# The rooms whose modules C++ may import by name.
NAMED_IN_CPP = ["base", "capture", "events"]
NAME_IN_CPP = re.compile(rf'"{PACKAGE}\.([\w.]+)", "|(?:import_|ImportModule)\("{PACKAGE}\.([\w.]+)"')


class Import:
    """A module that another one imports, and where. `when` is "first", "late" (in a function) or "never" (for type checkers)."""

    def __init__(self, source, target, line, when):
        self.source, self.target, self.line, self.when = source, target, line, when


def room_of(module):
    """The longest listed name of which `module` (a path within the package) is or lies below."""
    return max((room for room in ROOMS if room in ("", module) or module.startswith(room + "/")), key=len)


def find_module(package, dotted):
    """The path within the package of the module of that name; None if there is none, "_C" for the compiled one."""
    path = "/".join(dotted.split(".")[1:])
    if path == "_C" or path.startswith("_C/"):
        return "_C"
    for found in (f"{path}.py", f"{path}/__init__.py" if path else "__init__.py"):
        if (package / found).is_file():
            return found
    return None


def targets_of(package, node):
    """The modules of the package that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:  # what is imported from a package may be a module or a name in it
        names = [
            f"{node.module}.{alias.name}" if find_module(package, f"{node.module}.{alias.name}") else node.module for alias in node.names
        ]
    ours = (name for name in names if name and name.split(".")[0] == PACKAGE)
    return sorted({found for found in (find_module(package, name) for name in ours) if found})


def imports_of(package, module):
    """The imports of our own modules in one file."""

    def visit(node, when):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield from (Import(module, target, child.lineno, when) for target in targets_of(package, child))
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                yield from visit(child, "never")
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from visit(child, "late" if is_function else when)

    yield from visit(ast.parse((package / module).read_text()), "first")


def check_import(each):
    """The broken rule, or None if all is well."""
    if each.when == "never":
        return None
    if each.when == "late":
        return (
            None if each.target in LATE.get(each.source, ()) else "import it at the top, or say in LATE of tools/check_imports.py why not"
        )
    here, there = room_of(each.source), room_of(each.target)
    if each.target == "_C" or each.target == "__init__.py" or here == there or there in ROOMS[here]:
        return None
    return f"{here or 'the package'} may import {' '.join(filter(None, ROOMS[here])) or 'no other room'}, not {there}"


def loaded_by(each):
    """The module that an import names, and the packages around it that Python imports first."""
    folders = [folder.as_posix() for folder in Path(each.target).parents[:-1]]
    return {each.target} | {f"{folder}/__init__.py" for folder in folders if not each.source.startswith(folder + "/")}


def find_cycles(imports):
    """Modules that import each other before either is complete, one text for each group."""
    follow = {}
    for each in imports:
        if each.when == "first" and each.target not in ("_C", "__init__.py"):
            follow.setdefault(each.source, set()).update(loaded_by(each))

    def reach(start):
        seen, waiting = set(), [start]
        while waiting:
            for target in follow.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    reached = {source: reach(source) for source in follow}
    return sorted({" ".join(sorted(m for m in reached if m in reached[s] and s in reached[m])) for s in reached if s in reached[s]})


def check_cpp(root):
    for source in sorted((root / "python" / "src").rglob("*.cpp")):
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            for match in NAME_IN_CPP.finditer(line):
                name = match.group(1) or match.group(2)
                if name.split(".")[0] not in NAMED_IN_CPP:
                    where = source.relative_to(root).as_posix()
                    yield f"{where}:{number}: C++ may import modules of {' '.join(NAMED_IN_CPP)}, not {PACKAGE}.{name}"


def check_tree(root):
    package = root / "python" / PACKAGE
    modules = sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))
    imports = [each for module in modules for each in imports_of(package, module)]
    for each in imports:
        if rule := check_import(each):
            yield f"python/{PACKAGE}/{each.source}:{each.line}: {rule} ({each.target})"
    for cycle in find_cycles(imports):
        yield f"python/{PACKAGE}: these modules import each other: {cycle}"
    late = {(each.source, each.target) for each in imports if each.when != "first"}
    for source, targets in LATE.items():
        for target in targets:
            if source in modules and target in modules and (source, target) not in late:
                yield f"tools/check_imports.py: LATE names an import that is gone: {source} {target}"
    yield from check_cpp(root)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = list(check_tree(root))
    for violation in violations:
        print(violation)
    print(f"check_imports: {len(violations)} violations", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
