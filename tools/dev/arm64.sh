# What ./dev needs to build for arm64 on an x86-64 Debian, and to run what it has built. Sourced by ./dev.
#
# Debian's packages for arm64 are unpacked into a folder, which the cross compiler takes as the root of its system. This machine's own
# packages and their states stay as they are. qemu runs the programs of the folder, as if they were this machine's: the kernel starts it
# for every arm64 program (binfmt), and QEMU_LD_PREFIX tells it where their libraries are. So the Python of the folder names the wheel and
# its module, and neither has to be told about another machine.

ARM64_TOOLS=(g++-aarch64-linux-gnu qemu-user-static binfmt-support)
# The headers and libraries of the build, and a Python that can make environments. The tools of the build are this machine's.
mapfile -t ARM64_PACKAGES < <(printf '%s\n' "${BUILD_PACKAGES[@]}" | grep -e '-dev$' -e '-venv$')
ARM64_FOLDER=$PWD/build/arm64_debian
ARM64_ROOT=$ARM64_FOLDER/root
ARM64_PYTHON=$ARM64_FOLDER/python/bin/python
ARM64_LIBRARIES=$ARM64_ROOT/usr/lib/aarch64-linux-gnu

# download_arm64_packages: those and what they depend on, from the sources of this machine's apt, in a state of their own.
download_arm64_packages() {
  local apt=$ARM64_FOLDER/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  touch "$apt/status"
  cat >"$apt/apt.conf" <<TEXT
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
TEXT
  APT_CONFIG=$apt/apt.conf apt-get -qq update
  APT_CONFIG=$apt/apt.conf apt-get -qq -y --download-only install "${ARM64_PACKAGES[@]}"
}

# unpack_arm64_packages: without their scripts, whose work that matters here is done below.
unpack_arm64_packages() {
  local package link
  rm -rf "$ARM64_ROOT"
  mkdir -p "$ARM64_ROOT"
  for package in "$ARM64_FOLDER"/apt/archives/*.deb; do dpkg-deb --extract "$package" "$ARM64_ROOT"; done
  # Links from / lead out of the folder.
  while IFS= read -r -d '' link; do
    ln -sfnr "$ARM64_ROOT$(readlink "$link")" "$link"
  done < <(find "$ARM64_ROOT" -lname '/*' -print0)
  # update-alternatives would choose this BLAS, as it is the only one.
  ln -sf openblas-pthread/libopenblas.so openblas-pthread/libopenblas.so.0 "$ARM64_LIBRARIES/"
  ln -sf ../openblas-pthread/pkgconfig/openblas.pc "$ARM64_LIBRARIES/pkgconfig/"
}

# need_arm64: the tools, the folder, and a Python in it that has pip. Made once, and again when the list of packages changes.
need_arm64() {
  [[ $(uname -m) == x86_64 ]] || fail "arm64: this builds for arm64 on x86-64 machines; on an arm64 machine, leave it out"
  need_packages "${ARM64_TOOLS[@]}"
  export QEMU_LD_PREFIX=$ARM64_ROOT
  if [[ $(cat "$ARM64_FOLDER/made_of" 2>/dev/null) != "${ARM64_PACKAGES[*]}" ]]; then
    say "Unpacking an arm64 Debian into ${ARM64_FOLDER#"$PWD"/}"
    rm -rf "$ARM64_FOLDER"
    quietly build/arm64_packages.log download_arm64_packages
    unpack_arm64_packages
    "$ARM64_ROOT/usr/bin/python3" -c "" ||
      fail "arm64: the kernel does not start qemu for arm64 programs; this may help: sudo update-binfmts --enable qemu-aarch64"
    "$ARM64_ROOT/usr/bin/python3" -m venv "${ARM64_PYTHON%/bin/python}"
    echo "${ARM64_PACKAGES[*]}" >"$ARM64_FOLDER/made_of"
  fi
}
