"""Whether code may be loaded from a file: others must not be able to put another one into its place."""

import grp
import os
import pwd
import stat
from pathlib import Path

SHARED = Path("/var/tmp")  # where every user may make a folder, and files stay


def problem_of(path: Path) -> str | None:
    """The reason why others could replace `path`, a file or folder that may be missing yet; None if they could not.

    The file, its folders up to the root and those that symbolic links lead to must belong to this user or to root, and no other user
    may write them. A folder such as /tmp may be open to all if it is sticky: then others cannot replace what is not theirs.
    """
    absolute = Path(os.path.abspath(path))
    real = Path(os.path.realpath(path))
    for place in dict.fromkeys([absolute, *absolute.parents, real, *real.parents]):
        try:
            about = os.lstat(place)
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{place} cannot be looked at ({error.strerror})"
        if about.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user ({_user_name(about.st_uid)})"
        is_sticky = stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX and place != absolute
        if not stat.S_ISLNK(about.st_mode) and not is_sticky and _others_may_write(about):
            return f"{place} can be written by other users (mode {stat.S_IMODE(about.st_mode):o})"
    return None


def make_folder(path: Path) -> None:
    """Makes `path` and the folders above it that are missing, for this user alone whatever the umask is."""
    for folder in reversed([path, *path.parents]):
        try:
            folder.mkdir(mode=0o700)
        except OSError:  # it is there, or it is refused, which the last one tells
            if folder == path and not folder.is_dir():
                raise


def _others_may_write(about: os.stat_result) -> bool:
    if about.st_mode & stat.S_IWOTH:
        return True
    return bool(about.st_mode & stat.S_IWGRP) and not _is_private_group(about.st_gid)


def _is_private_group(gid: int) -> bool:
    """Whether a group has no member but this user: many systems give each user one, with a umask that lets it write."""
    if gid == 0:
        return True
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
