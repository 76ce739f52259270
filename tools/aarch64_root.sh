#!/usr/bin/env bash
# A folder with Debian's AArch64 packages that Bitale needs to be built and run for such processors on another one, for
# cmake/aarch64.cmake, wheels, and an emulator. Packages are fetched and unpacked, nothing is installed, no rights are needed.
# usage: tools/aarch64_root.sh FOLDER
set -euo pipefail

[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
command -v apt-get dpkg >/dev/null || { echo "$0: this needs Debian's apt-get and dpkg" >&2; exit 1; }
packages=(libc6 libstdc++6 libopenblas0-pthread libboost-math-dev libeigen3-dev libxxhash-dev libhwy-dev doctest-dev)
# Of these LLVM's archives and the headers of Debian's own Python are wanted, but not what they depend on.
alone=(llvm-19-dev)
if [ -x /usr/bin/python3 ]; then
  alone+=("$(/usr/bin/python3 -c 'import sys; print("libpython%d.%d-dev" % sys.version_info[:2])')")
fi

mkdir -p "$1"
root=$(cd "$1" && pwd)
state=$root/.apt
mkdir -p "$state"/{lists/partial,archives/partial}
: >"$state/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::status="$state/status"
  -o Dir::State::Lists="$state/lists" -o Dir::Cache::archives="$state/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
  -o Debug::NoLocking=1 -o APT::Sandbox::User=)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends --download-only "${packages[@]}"
(cd "$state/archives" && "${apt[@]}" download "${alone[@]}")
for package in "$state"/archives/*.deb; do dpkg -x "$package" "$root"; done
rm -rf "$state"
touch "$root/complete"
