# ./dev build, python, wheel, package, demo, clean: trees of CMake's presets in build/, the Python module, what is released.

# configure PRESET PYTHON(ON|OFF|KEEP)
configure() {
  local tree=build/$1 python=$2 now=OFF
  grep -q '^BITALE_BUILD_PYTHON:BOOL=ON' $tree/CMakeCache.txt 2>/dev/null && now=ON
  [ "$python" != KEEP ] || python=$now
  [ -x $venv/bin/python ] || python=OFF
  if [ ! -f $tree/build.ninja ] || [ $python != $now ]; then
    cmake --preset "$1" -DBITALE_BUILD_PYTHON=$python -DPython_EXECUTABLE="$PWD/$venv/bin/python" >$tree.log 2>&1 ||
      { cat $tree.log >&2; die "configuring failed"; }
  fi
}

# build_targets PRESET [TARGET...]
build_targets() {
  local preset=$1 t=$SECONDS
  shift
  cmake --build build/"$preset" -j "$jobs" ${*:+--target "$@"} || die "the $preset build failed"
  [ $((SECONDS - t)) -lt 5 ] || say "Built ($preset) in $((SECONDS - t)) s"
}

build() {
  setup build
  mkdir -p build
  configure "${1:-release}" KEEP
  build_targets "${1:-release}"
}

# The module stays in the build tree; the package in python/bitale links to the one built last.
python() {
  local preset=${1:-release} file
  setup build python
  mkdir -p build
  configure "$preset" ON
  build_targets "$preset" _core _core_stub
  rm -f python/bitale/_core*.so python/bitale/_core.pyi
  for file in build/"$preset"/python/_core*; do
    ln -s "../../$file" python/bitale/
  done
}

wheel() {
  local pythons=() machine
  machine=$(uname -m)
  while [ $# -gt 0 ]; do
    case $1 in
      --python) pythons+=("${2:?wheel: --python wants an interpreter}"); shift ;;
      --arch) machine=${2:?wheel: --arch wants a processor, such as aarch64}; shift ;;
      *) die "wheel: no option '$1'" ;;
    esac
    shift
  done
  setup build python
  setup_release
  if [ "$machine" = aarch64 ] && [ "$(uname -m)" != aarch64 ]; then
    install_debian "${debian_cross[@]}"
    [ -e build/aarch64-root/complete ] || { say "Fetching packages for AArch64"; tools/aarch64_root.sh build/aarch64-root; }
  fi
  # One of each version.
  [ ${#pythons[@]} -gt 0 ] || mapfile -t pythons < <(suitable_pythons | sort -s -u -t' ' -k1,1V | cut -d' ' -f2-)
  .venv-release/bin/python tools/release --arch "$machine" --python "${pythons[@]}"
}

package() {
  setup build packages
  setup_release
  PATH="$PWD/.venv-release/bin:$PATH" .venv-release/bin/python tools/release/packages.py
}

demo() {
  setup build
  mkdir -p build
  configure quick KEEP
  build_targets quick example_digits
  build/quick/examples/digits "$@"
}

clean() { rm -rf build dist python/bitale/_core*.so python/bitale/_core.pyi; }
