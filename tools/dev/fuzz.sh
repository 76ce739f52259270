# ./dev fuzz, stress, math, battery: random graphs, faults of the compile directory, accuracy, statistical tests.

# cpp_graphs PRESET SECONDS: the generators of the C++ tests, each for an equal part of the time
cpp_graphs() {
  local tests=build/$1/bitale_tests names=('random indexing keeps*' 'random graphs keep their values' 'random integer graphs*'
    'random graphs give the same bits*' 'random graphs and their gradients' 'random graphs over the registry'
    'random trees of elementwise functions*') name
  export BITALE_TEST_SECONDS=$((1 + $2 / ${#names[@]}))
  for name in "${names[@]}"; do
    BITALE_TEST_SEED=$(($(date +%s) % 1000000 * 1000)) $tests --test-case="$name" || die "a generated graph fails: $name"
  done
  unset BITALE_TEST_SECONDS
}

fuzz() {
  local seconds=300 cpp=yes whole=yes preset=dev arguments=() t=$SECONDS
  while [ $# -gt 0 ]; do
    case $1 in
      --seed) arguments+=(--seed "${2:?fuzz: --seed wants a number}"); shift ;;
      --python) cpp=no ;;
      --coverage) preset=coverage whole=no ;;
      *) [[ $1 =~ ^[1-9][0-9]*$ ]] || die "fuzz: how many seconds? got '$1'"; seconds=$1 ;;
    esac
    shift
  done
  compiled=$(mktemp -d)
  trap 'rm -rf "$compiled"' EXIT
  export BITALE_FLAGS=${BITALE_FLAGS:-},base_compiledir=$compiled
  if [ $whole = yes ]; then python dev; else setup build python; fi
  if [ $cpp = yes ]; then
    mkdir -p build
    configure $preset KEEP
    build_targets $preset bitale_tests
    find build/$preset -name '*.gcda' -delete
    cpp_graphs $preset $((seconds / 2))
    say "random graphs of each kind in C++ for $((SECONDS - t)) s"
  fi
  if [ $preset = coverage ]; then code_coverage; return; fi
  PYTHONPATH=tests:python $venv/bin/python -m fuzz.derivatives --seconds $((seconds / 10 + 1)) --seed $(($(date +%s) % 1000000 * 1000)) ||
    die "gradients at special points are wrong"
  local of
  for of in views named_values labelled trees; do
    PYTHONPATH=tests:python $venv/bin/python -m fuzz.$of --seconds $((seconds / 10 + 1)) "${arguments[@]}" || die "programs of fuzz.$of fail"
  done
  # A fifth of the time for programs of loops.
  PYTHONPATH=tests:python $venv/bin/python -m fuzz.loops --seconds $((seconds / 5 + 1)) --keep tests/fuzz/seeds "${arguments[@]}" ||
    die "programs of loops fail; what is left in tests/fuzz/seeds is replayed by ./dev test"
  local left=$((seconds - SECONDS + t))
  PYTHONPATH=tests:python $venv/bin/python -m fuzz --seconds $((left > seconds / 2 ? left : seconds / 2)) \
    --keep tests/fuzz/seeds "${arguments[@]}" || die "graphs of the whole language fail; what is left in tests/fuzz/seeds is replayed by ./dev test"
}

# What ran of src/ since the counters were last deleted, a folder a line; each file and branch as pages.
code_coverage() {
  $venv/bin/python -m pip install --quiet --disable-pip-version-check "${pip_coverage[@]}"
  local pages=build/coverage/pages
  mkdir -p $pages
  $venv/bin/python -m gcovr --root . --filter src/ --exclude-throw-branches --exclude-unreachable-branches --gcov-ignore-errors=no_working_dir_found --merge-mode-functions=separate \
    -j "$jobs" build/coverage --json-summary build/coverage/summary.json --html-details $pages/index.html >/dev/null
  $venv/bin/python tools/coverage_table.py build/coverage/summary.json
  say "Pages: $pages/index.html"
}

stress() {
  setup build
  mkdir -p build
  configure dev KEEP
  build_targets dev stress_worker stress_worker_of_another_version without_locks
  python3 tests/stress/cache.py build/dev --size long ${1:+--only "$1"} || die "the compile directory does not stand its faults"
}

math() {
  setup build
  mkdir -p build
  configure release KEEP
  build_targets release math_accuracy
  build/release/math_accuracy "$@"
}

battery() {
  setup build
  if [ -z "${CMAKE_PREFIX_PATH:-}" ] && ! (install_debian "${debian_battery[@]}"); then
    die "battery: TestU01 is in Debian's section non-free, to be added to apt's sources; or name where it is unpacked in CMAKE_PREFIX_PATH"
  fi
  mkdir -p build
  configure release KEEP
  cmake build/release >/dev/null  # looks for TestU01 anew
  build_targets release battery
  build/release/battery "$@"
}
