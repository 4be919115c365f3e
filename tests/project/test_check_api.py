"""tools/check_api.py: an installation that matches the lists of public headers passes, and every kind of hole in the fence is found."""

import subprocess
import sys

import pytest

EXPORT = '#include <string>\n#define MINDTORCH_EXPORT __attribute__((visibility("default")))\n'
HEADER = (
    "namespace mindtorch::part {\nclass MINDTORCH_EXPORT Shown {\n public:\n  void run();\n};\nMINDTORCH_EXPORT int call(int x = 0);\n"
    "MINDTORCH_EXPORT std::string text();\n}\n"
)
SOURCE = (
    "namespace mindtorch::part {\nvoid Shown::run() {}\nint call(int x) { return x; }\nstd::string text() { return {}; }\n"
    "void secret() {}\n}\n"
)


@pytest.fixture
def installed(tmp_path, project_root):
    """A tree with one public header, its installation, and installed.check(), which runs the script on them."""

    class Installed:
        root, prefix = tmp_path / "root", tmp_path / "prefix"

        def build(self, source):
            file = self.root / "part.cpp"
            file.write_text(EXPORT + HEADER + source)
            (self.prefix / "lib").mkdir(exist_ok=True)
            library = self.prefix / "lib" / "libmindtorch.so"
            subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", file, "-o", library], check=True)

        def check(self):
            command = [sys.executable, project_root / "tools" / "check_api.py", self.prefix, self.root]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    part = Installed.root / "mindtorch" / "part"
    include = Installed.prefix / "include" / "mindtorch"
    for folder in (part, include / "part", include / "bridges" / "torch"):
        folder.mkdir(parents=True)
    (part / "CMakeLists.txt").write_text("mindtorch_part(part\n  SOURCES\n    part.cpp\n  PUBLIC_HEADERS\n    part.h)\n")
    (part / "part.h").write_text(HEADER)
    (include / "part" / "part.h").write_text(HEADER)
    (include / "bridges" / "torch" / "bridge.h").touch()
    Installed().build(SOURCE)
    return Installed()


def test_what_is_marked_and_listed_passes(installed):
    result = installed.check()
    assert (result.returncode, result.stdout) == (0, "")


def test_a_symbol_that_no_public_header_marks_is_found(installed):
    installed.build(SOURCE.replace("void secret", "MINDTORCH_EXPORT void secret"))
    result = installed.check()
    assert result.returncode == 1
    assert result.stdout == "mindtorch::part::secret() is exported, but no public header marks it with MINDTORCH_EXPORT\n"


def test_a_private_header_that_is_installed_is_found(installed):
    (installed.prefix / "include" / "mindtorch" / "part" / "internal.h").touch()
    result = installed.check()
    assert result.returncode == 1
    assert result.stdout == "mindtorch/part/internal.h is installed, but no PUBLIC_HEADERS list it\n"


def test_a_public_header_that_is_not_installed_is_found(installed):
    (installed.prefix / "include" / "mindtorch" / "part" / "part.h").unlink()
    result = installed.check()
    assert result.returncode == 1
    assert result.stdout == "mindtorch/part/part.h is public, but it is not installed\n"


def test_an_installation_without_the_library_is_refused(installed):
    (installed.prefix / "lib" / "libmindtorch.so").unlink()
    result = installed.check()
    assert result.returncode == 1
    assert "no libmindtorch.so" in result.stdout
