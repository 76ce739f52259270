# ./dev test: the tests, by kind.

test() {
  local preset=quick python=yes peers=no checked=no apart=no whole=no filter='' t=$SECONDS
  while [ $# -gt 0 ]; do
    case $1 in
      --all) preset=dev whole=yes ;;
      --memory) checked=bitale_checked python=no ;;
      --races) checked=bitale_raced python=no ;;
      --checked) checked=part python=no ;;
      --sanitize) preset=sanitize python=no whole=yes ;;
      --tsan) preset=tsan python=no whole=yes ;;
      --peers) peers=yes ;;
      --browser) setup browser ;;
      --pymc) apart=pymc ;;
      --pymc-newest) apart=pymc_newest ;;
      --pymc5) apart=pymc5 ;;
      --wheel) apart=wheel ;;
      --contributing) apart=contributing ;;
      --xla) apart=xla ;;
      --array-api) apart=array_api ;;
      --arm) setup arm ;;
      -*) die "test: no option '$1'" ;;
      *) filter=$1 ;;
    esac
    shift
  done
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  compiled=$(mktemp -d)  # tests, examples and the consumer leave the user's cache alone
  trap 'rm -rf "$compiled"' EXIT
  export BITALE_FLAGS=${BITALE_FLAGS:-},base_compiledir=$compiled
  if [ $apart != no ]; then
    test_$apart "$filter"
    return
  fi
  if [ $python = yes ]; then setup build python; else setup build; fi
  if [ $python = yes ] && command -v chromium >/dev/null; then
    setup_browser_driver || say "The tests of pages in a browser are skipped"
  fi
  mkdir -p build
  if [ $checked != no ]; then
    if [ $checked = part ]; then test_checked_part; else test_checked "$checked" ".*($filter)"; fi
    return
  fi
  # A part of all generated cases, another each day, unless tests were asked for by name or a part was.
  local parts=8
  if [ $whole = no ] && [ -z "$filter" ]; then
    export BITALE_TEST_SAMPLE=${BITALE_TEST_SAMPLE:-$(($(date +%s) / 86400 % parts))/$parts}
    say "Part ${BITALE_TEST_SAMPLE/\// of } of the generated cases; ./dev test --all runs all"
  fi
  local targets=() left_out=()
  if [ $whole = no ]; then
    targets=(bitale_tests rewrites_doc pictures_doc tutorial_doc)
    left_out=(-E "$built_by_all")
  fi
  configure $preset "$([ $python = yes ] && echo ON || echo OFF)"
  build_targets $preset "${targets[@]}"
  local selected=0 failed=0
  test_cpp || failed=1
  [ $python = no ] || test_python || failed=1
  [ $failed = 0 ] || die "tests failed; the lines above that begin with a command run each of them again"
  if [ $peers = yes ]; then
    setup_peers
    .venv-peers/bin/python -m pytest -q tests/python/gradient/test_against_jax.py || die "derivatives differ from JAX's"
  fi
  [ $selected = 1 ] || die "no test has a name that matches '$filter' (./dev test --all has more)"
  [ $whole = yes ] || say "Left out: examples, the site, the consumer project, the unity build, GradBench, faults of the compile directory, clang's headers (./dev test --all)"
  say "Tested ($preset) in $((SECONDS - t)) s"
}

# C++ tests that need more than the library and bitale_tests.
built_by_all='^(example|consumer|unity|bench|stress|clang)'

# The two kinds, with the variables of test().
test_cpp() {
  ! ctest --test-dir build/$preset -N "${left_out[@]}" ${filter:+-R "$filter"} | grep -x 'Total Tests: 0' >/dev/null || return 0
  selected=1
  ctest --test-dir build/$preset --output-on-failure -j "$jobs" "${left_out[@]}" ${filter:+-R "$filter"} && return
  say "Again, a line each:"
  local again='./dev test'
  [ $whole = no ] || again+=' --all'
  sed "s|^[0-9]*:\(.*\)|$again '\1'|" build/$preset/Testing/Temporary/LastTestsFailed.log >&2
  return 1
}

test_python() {
  local status=0 workers=(-n "$jobs" --dist worksteal) without=()
  python $preset
  setup_python_tests
  if [ -n "$filter" ]; then
    workers=()  # a few tests begin sooner in one process
  elif [ $whole = no ]; then
    without=(--ignore=tests/python/test_examples.py --ignore=tests/python/test_site.py)
  fi
  $venv/bin/python -m pytest -q tests/python "${workers[@]}" "${without[@]}" ${filter:+-k "$filter"} || status=$?
  case $status in
    0) selected=1 ;;
    5) ;;  # it selected none
    *) return 1 ;;
  esac
}

# test_checked bitale_checked|bitale_raced FILTER: C++ tests with a part of the library under sanitizers
test_checked() {
  local group=memory t=$SECONDS
  [ "$1" = bitale_checked ] || group=races
  configure dev KEEP
  build_targets dev "$1_tests"
  ctest --test-dir build/dev -C Checked --output-on-failure -j "$jobs" --no-tests=error -R "^$group[.]$2" || die "C++ tests with sanitizers failed"
  say "Tested ($group) in $((SECONDS - t)) s"
}

# Of the tests with sanitizers, those of files that changed within a day, and one of four parts, another each day. Those
# that take minutes are left to --memory and --races.
test_checked_part() {
  local part=$(($(date +%s) / 86400 % 4)) changed names
  configure dev KEEP
  changed=$(git diff --name-only "$(git rev-list -1 --before='1 day ago' HEAD)" -- src include/bitale tests/cpp 2>/dev/null |
    sed -E 's#^(src|include/bitale|tests/cpp)/##; s#(_test)?[.][a-z]+$##; s#/#.#g' | paste -sd' ' || true)
  names=$(ctest --test-dir build/dev -C Checked -N -R '^(memory|races)[.]' | sed -n 's/^ *Test *#[0-9]*: //p' |
    grep -vE "$slow_when_checked" | awk -v part="$part" -v changed="$changed" '
      BEGIN { n = split(changed, files, " ") }
      { mine = NR % 4 == part; name = $0; sub(/^[a-z]*[.]/, "", name); for (i = 1; i <= n; ++i) mine = mine || files[i] == name; if (mine) print }')
  say "Part $part of 4 of the tests with sanitizers, and those of files that changed within a day: $(wc -w <<<"$names") tests"
  test_checked bitale_checked "($(sed -n 's/^memory[.]//p' <<<"$names" | paste -sd'|'))\$"
  test_checked bitale_raced "($(sed -n 's/^races[.]//p' <<<"$names" | paste -sd'|'))\$"
}
slow_when_checked='^memory[.](link[.](random_graphs|registry)$|lowering[.]passes|graph[.]|rules[.])'

test_pymc() {
  local t=$SECONDS
  setup pymc
  python dev
  .venv-pymc/bin/python -m pytest -q tests/pymc ${1:+-k "$1"} || die "tests of bitale.pytensor failed"
  say "Tested (pymc) in $((SECONDS - t)) s"
}

# The places where bitale.pytensor and these packages meet, with the newest versions of them that pip finds.
test_pymc_newest() {
  local t=$SECONDS environment=.venv-pymc-newest
  setup_venv
  [ -x $environment/bin/python ] || $venv/bin/python -m venv $environment
  say "Installing the newest of: ${pip_pymc_newest[*]}"
  $environment/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager "${pip_pymc_newest[@]}"
  find_checkout $environment
  $environment/bin/python -m pip list --disable-pip-version-check | grep -iE '^(pymc|pytensor|nutpie|numba|arviz|jax) '
  python dev
  $environment/bin/python -m pytest -q tests/pymc/test_{changes_nothing,sampling,nutpie,nothing_else_compiles,linker}.py ${1:+-k "$1"} ||
    die "bitale.pytensor does not fit the newest packages"
  say "Tested (pymc-newest) in $((SECONDS - t)) s"
}

test_xla() {
  local t=$SECONDS
  setup xla
  python dev
  PYTHONPATH=tests .venv-xla/bin/python -m pytest -q tests/xla ${1:+-k "$1"} || die "tests of bitale.jax failed"
  say "Tested (xla) in $((SECONDS - t)) s"
}

# CONTRIBUTING.md, in a copy of the checkout.
test_contributing() {
  local t=$SECONDS
  setup build python
  python dev
  $venv/bin/python tests/contributing/walk.py || die "CONTRIBUTING.md is not right"
  say "Tested (contributing) in $((SECONDS - t)) s"
}

test_wheel() {
  local t=$SECONDS
  setup python
  setup_release
  install_debian "${debian_roots[@]}"
  if compgen -G 'dist/*_aarch64.whl' >/dev/null && [ "$(uname -m)" != aarch64 ]; then
    install_debian "${debian_emulator[@]}"
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 || say "Linux starts no emulator here"
  fi
  compgen -G 'dist/*.whl' >/dev/null || die "test --wheel: dist/ has no wheels; ./dev wheel makes them"
  .venv-release/bin/python tests/wheel/run.py ${1:+--only "$1"} || die "an installed wheel does not work"
  say "Tested (wheel) in $((SECONDS - t)) s"
}

test_array_api() {
  local t=$SECONDS
  [ -d "${ARRAY_API_TESTS:-}" ] || die "test --array-api: ARRAY_API_TESTS is not the checkout of the suite array-api-tests"
  python dev
  $venv/bin/python -m pip install --quiet --disable-pip-version-check 'hypothesis>=6' ndindex pytest-json-report
  (cd "$ARRAY_API_TESTS" && PYTHONPATH="$OLDPWD/python" ARRAY_API_TESTS_MODULE=bitale.array_api "$OLDPWD/$venv/bin/python" -m pytest -q \
    --max-examples=100 array_api_tests ${1:+-k "$1"}) || die "the conformance suite found differences"
  say "Tested (array-api) in $((SECONDS - t)) s"
}

test_pymc5() {
  local t=$SECONDS environment=.venv-pymc5
  command -v python3.11 >/dev/null || die "test --pymc5: no python3.11 is installed"
  if [ "$(cat $environment/.packages 2>/dev/null)" != "${pip_pymc5[*]}" ]; then
    say "Installing PyMC into $environment: ${pip_pymc5[*]}"
    rm -rf $environment
    python3.11 -m venv $environment
    $environment/bin/python -m pip install --quiet --disable-pip-version-check "${pip_pymc5[@]}"
    printf '%s' "${pip_pymc5[*]}" >$environment/.packages
  fi
  say "Building Bitale for Python 3.11"
  setup build
  $environment/bin/python -m pip install --quiet --disable-pip-version-check .
  $environment/bin/python -m pytest -q tests/pymc ${1:+-k "$1"} || die "tests of bitale.pytensor failed"
  say "Tested (pymc5) in $((SECONDS - t)) s"
}
