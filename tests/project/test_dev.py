"""./dev: its set-up installs what is missing and nothing else, and its commands fail clearly. Package tools are replaced by scripts."""

import subprocess

import pytest

PRELUDE = 'set -euo pipefail; say() { :; }; fail() { echo "$*" >&2; exit 1; }; source "${SETUP%/*}/quietly.sh"; source "$SETUP"; '


class Machine:
    """A folder with made-up programs, which log their arguments, and a shell that sees only them and the basic commands."""

    def __init__(self, folder, root):
        self.folder, self.bin, self.log, self.root = folder, folder / "bin", folder / "log", root
        self.bin.mkdir()
        self.log.touch()
        self.give("dpkg-query", f'grep -qx "${{@: -1}}" "{folder}/installed" && printf installed')
        self.install()
        for command in ("bash", "env", "grep", "sort", "head", "awk", "cmp", "cp", "rm", "cat", "mkdir", "sed", "tail"):
            path = subprocess.run(["which", command], capture_output=True, text=True, check=True).stdout.strip()
            (self.bin / command).symlink_to(path)

    def give(self, name, body="", folder=None):
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self.log}"\n{body}\n')
        path.chmod(0o755)

    def install(self, *packages):
        (self.folder / "installed").write_text("".join(package + "\n" for package in packages))

    def run(self, command):
        environment = {"PATH": str(self.bin), "HOME": str(self.folder / "home"), "SETUP": str(self.root / "tools" / "dev" / "setup.sh")}
        return subprocess.run(
            [self.bin / "bash", "-c", PRELUDE + command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def calls(self, name):
        return [line for line in self.log.read_text().splitlines() if line.split()[0] == name]


@pytest.fixture
def machine(tmp_path, project_root):
    return Machine(tmp_path, project_root)


def test_nothing_is_installed_when_nothing_is_missing(machine):
    machine.install("libfmt-dev")
    machine.give("ninja")
    machine.give("apt-get")
    assert machine.run("need_packages libfmt-dev ninja-build").returncode == 0
    assert machine.calls("apt-get") == []


def test_only_what_is_missing_is_installed(machine):
    machine.install("libfmt-dev")
    machine.give("apt-get")
    machine.give("id", "echo 0")
    assert machine.run("need_packages libfmt-dev libzstd-dev ccache").returncode == 0
    update, install = machine.calls("apt-get")
    assert update.split()[-1] == "update"
    assert install.split()[-2:] == ["libzstd-dev", "ccache"]
    assert "libfmt-dev" not in install


def test_a_user_who_is_not_root_installs_with_sudo(machine):
    machine.give("apt-get")
    machine.give("id", "echo 1000")
    machine.give("sudo")
    assert machine.run("need_packages libzstd-dev").returncode == 0
    assert len(machine.calls("sudo")) == 2
    assert machine.calls("apt-get") == []


def test_without_sudo_the_message_says_what_to_install(machine):
    machine.give("apt-get")
    machine.give("id", "echo 1000")
    result = machine.run("need_packages libzstd-dev")
    assert result.returncode == 1
    assert "apt-get install libzstd-dev" in result.stderr


def test_a_failed_installation_is_a_failure(machine):
    machine.give("apt-get", "[[ ${@: -1} == update ]]")
    machine.give("id", "echo 0")
    assert machine.run("need_packages libzstd-dev; echo went on").returncode != 0


@pytest.mark.parametrize(("version", "recent"), [("3.25.1", True), ("3.25", True), ("4.4.4", True), ("3.100.0", True), ("3.24.9", False)])
def test_cmake_is_recent_from_3_25_on(machine, version, recent):
    machine.give("cmake", f"echo cmake version {version}")
    assert (machine.run("is_recent_cmake cmake").returncode == 0) == recent


def test_a_list_of_python_packages_is_installed_once_and_again_when_it_changes(machine):
    machine.give("python", folder=machine.folder / ".venv" / "bin")
    requirements = machine.folder / "tools" / "requirements.txt"
    requirements.parent.mkdir()
    for text, installations in (("pytest\n", 1), ("pytest\n", 1), ("pytest\nnumpy\n", 2)):
        requirements.write_text(text)
        assert machine.run("need_python").returncode == 0
        assert sum(" install " in call for call in machine.calls("python")) == installations


def test_python_packages_that_could_not_be_installed_are_tried_again(machine):
    machine.give("python", '[[ "$*" != *install* ]]', machine.folder / ".venv" / "bin")
    (machine.folder / "tools").mkdir()
    (machine.folder / "tools" / "requirements-torch.txt").write_text("torch\n")
    for attempts in (1, 2):
        assert machine.run("need_python torch || echo went on").stdout == "went on\n"
        assert sum(" install " in call for call in machine.calls("python")) == attempts


def test_a_command_that_succeeds_leaves_its_output_in_the_log(machine):
    result = machine.run('say() { echo "$*"; }; quietly logs/build.log echo many lines')
    assert result.returncode == 0
    assert result.stdout == "    done in 0 s\n"
    assert (machine.folder / "logs" / "build.log").read_text() == "many lines\n"


def test_a_build_that_fails_shows_what_failed_and_nothing_else(machine):
    machine.give("build", "printf '[1/3] good.o\\nFAILED: bad.o\\nbad.cpp:1: error: no\\n[3/3] other.o\\n'; exit 7")
    result = machine.run("quietly logs/build.log build")
    assert result.returncode == 7
    assert "FAILED: bad.o\nbad.cpp:1: error: no\n" in result.stderr
    assert "other.o" not in result.stderr
    assert "logs/build.log" in result.stderr


def test_another_command_that_fails_shows_the_end_of_its_output(machine):
    machine.give("install", "echo no such package; exit 100")
    result = machine.run("quietly logs/packages.log install")
    assert result.returncode == 100
    assert "no such package\n" in result.stderr


def dev(project_root, *arguments):
    return subprocess.run([project_root / "dev", *arguments], capture_output=True, text=True, check=False)


def test_an_unknown_command_shows_the_usage_and_fails(project_root):
    result = dev(project_root, "dance")
    assert result.returncode == 2
    assert "usage: ./dev COMMAND" in result.stderr


def test_help_lists_every_command(project_root):
    result = dev(project_root, "help")
    assert result.returncode == 0
    for command in ("demo", "test", "build", "bench", "lint", "format", "asan", "tsan"):
        assert command in result.stdout


@pytest.mark.parametrize(
    "arguments", [("test", "--nonsense"), ("bench", "--nonsense"), ("bench", "no_such_benchmark"), ("wheel", "--arch", "sparc")]
)
def test_a_wrong_argument_is_refused_before_any_work(project_root, arguments):
    result = dev(project_root, *arguments)
    assert result.returncode == 1
    assert arguments[-1] in result.stderr


def wheel_pythons(machine):
    """The programs that ./dev wheel --python all builds for."""
    listed = machine.run('source "${SETUP%/*}/wheel.sh"; all_pythons')
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.splitlines()


def test_wheels_for_all_pythons_are_for_each_supported_one_of_the_path_and_of_pyenv(machine):
    for version in ("3.9", "3.12", "3.14t"):
        machine.give(f"python{version}", f"echo {version}")
    pyenv = machine.folder / "home" / ".pyenv" / "versions"
    machine.give("python3.13", "echo 3.13", pyenv / "3.13.0" / "bin")
    machine.give("python3.12", "echo 3.12", pyenv / "3.12.1" / "bin")
    expected = [machine.bin / "python3.12", pyenv / "3.13.0" / "bin" / "python3.13", machine.bin / "python3.14t"]
    assert wheel_pythons(machine) == [str(path) for path in expected]


def test_a_shim_that_runs_nothing_is_no_python(machine):
    machine.give("python3.11", "exit 127")
    machine.give("python3.12", "echo 3.11")
    assert wheel_pythons(machine) == []


def test_a_wheel_for_arm64_is_for_the_python_of_debian_only(project_root):
    result = dev(project_root, "wheel", "--arch", "arm64", "--python", "python3.12")
    assert result.returncode == 1
    assert "leave out --python" in result.stderr


ARM64 = 'source "${SETUP%/*}/arm64.sh"; uname() { echo x86_64; }; '


def test_packages_for_arm64_are_unpacked_with_links_that_stay_in_their_folder(machine):
    (machine.folder / "build" / "arm64_debian" / "apt" / "archives").mkdir(parents=True)
    (machine.folder / "build" / "arm64_debian" / "apt" / "archives" / "zlib.deb").touch()
    machine.give("dpkg-deb", 'mkdir -p "$3/lib" "$3/usr/lib/aarch64-linux-gnu/pkgconfig"; ln -s /lib/libz.so.1 "$3/usr/lib/libz.so"')
    for command in ("find", "ln", "readlink"):
        (machine.bin / command).symlink_to(subprocess.run(["which", command], capture_output=True, text=True, check=True).stdout.strip())
    result = machine.run(ARM64 + "unpack_arm64_packages")
    assert result.returncode == 0, result.stderr
    root = machine.folder / "build" / "arm64_debian" / "root"
    assert (root / "usr" / "lib" / "libz.so").readlink().as_posix() == "../../lib/libz.so.1"
    assert (root / "usr" / "lib" / "aarch64-linux-gnu" / "libopenblas.so.0").is_symlink()


def test_what_was_unpacked_for_arm64_is_kept_until_the_list_of_packages_changes(machine):
    machine.install("g++-aarch64-linux-gnu", "qemu-user-static", "binfmt-support")
    made = machine.folder / "build" / "arm64_debian" / "made_of"
    made.parent.mkdir(parents=True)
    steps = "download_arm64_packages() { echo downloads; exit 3; }; "
    for text, status in (('"${ARM64_PACKAGES[*]}"', 0), ("zlib1g-dev", 3)):
        assert machine.run(ARM64 + steps + f"echo {text} >{made}; need_arm64").returncode == status


def test_on_an_arm64_machine_nothing_is_unpacked(machine):
    result = machine.run(ARM64 + "uname() { echo aarch64; }; need_arm64")
    assert result.returncode == 1
    assert "leave it out" in result.stderr
