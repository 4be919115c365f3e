"""Bridges are loaded from places where no other user can put code."""

import os

import pytest
from mindtorch_v2.torch_bridge import compiler, layout, library, trust

OTHER = 12345  # a user and a group that are not this one's


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "cache" / "mindtorch" / "torch_bridge"
    trust.make_folder(path)
    return path


def test_what_belongs_to_this_user_alone_is_trusted(folder):
    (folder / "bridge.so").write_bytes(b"")
    (folder / "bridge.so").chmod(0o755)
    assert trust.problem_of(folder / "bridge.so") is None
    assert trust.problem_of(folder / "missing" / "bridge.so") is None


@pytest.mark.parametrize("part", ["bridge.so", ".", "..", "../.."])
@pytest.mark.parametrize("mode", [0o757, 0o777])
def test_what_everybody_can_write_is_not(folder, part, mode):
    path = folder / "bridge.so"
    path.write_bytes(b"")
    (folder / part).chmod(mode)
    assert f"can be written by other users (mode {mode:o})" in trust.problem_of(path)


def test_a_folder_for_all_in_which_files_of_others_cannot_be_replaced_is_like_tmp(folder):
    folder.parent.chmod(0o1777)
    assert trust.problem_of(folder / "bridge.so") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("part", ["bridge.so", ".", "..", "../.."])
def test_what_belongs_to_somebody_else_is_not_trusted(folder, part):
    path = folder / "bridge.so"
    path.write_bytes(b"")
    os.chown(folder / part, OTHER, -1)
    assert f"belongs to another user ({OTHER})" in trust.problem_of(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_a_group_with_other_users_counts_as_others(folder):
    os.chown(folder, -1, OTHER)
    folder.chmod(0o775)
    assert "can be written by other users (mode 775)" in trust.problem_of(folder)


def test_a_link_is_as_trusted_as_what_it_leads_to(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "link").symlink_to(elsewhere)
    assert trust.problem_of(folder / "link" / "bridge.so") is None
    elsewhere.chmod(0o777)
    assert str(elsewhere) in trust.problem_of(folder / "link" / "bridge.so")


def test_new_folders_are_this_users_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        trust.make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert trust.problem_of(tmp_path / "a" / "b") is None


def test_a_home_that_all_users_share_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("MINDTORCH_LIBRARY_PATH")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert layout.cache_folder() == tmp_path / "mindtorch" / "torch_bridge"
    (tmp_path / "mindtorch").mkdir()
    (tmp_path / "mindtorch").chmod(0o777)
    assert layout.cache_folder() == trust.SHARED / f"mindtorch-{os.geteuid()}" / "torch_bridge"


def test_a_bridge_that_others_could_have_written_is_neither_loaded_nor_built(folder, monkeypatch):
    monkeypatch.setenv("MINDTORCH_LIBRARY_PATH", f"torch_bridge={folder}")
    path = folder / "torch-9.9" / "digest" / layout.LIBRARY_NAME
    trust.make_folder(path.parent)
    path.write_bytes(b"")
    monkeypatch.setattr(layout, "bridge_path", lambda torch: path)
    assert library._built(None) == path
    path.parent.chmod(0o777)
    with pytest.raises(
        library.NotUsableError, match=r"is not loaded, because it could be somebody else's: .* can be written by other users"
    ):
        library._built(None)
    with pytest.raises(compiler.BuildError, match=r"others could replace it: .* can be written by other users"):
        compiler._require_own_folder(path.parent)
