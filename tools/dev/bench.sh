# ./dev bench: the figures, beside the peers' in the same run.

bench() {
  if [ "${1:-}" = --xla ]; then
    setup xla
    python release
    .venv-xla/bin/python bench/xla_workloads.py
    return
  fi
  if [ "${1:-}" = --pymc ]; then
    setup pymc
    python release
    if [ "${2:-}" = --start ]; then
      .venv-pymc/bin/python bench/pymc_start.py "${@:3}"
      return
    fi
    .venv-pymc/bin/python -c 'import jax, stanli' 2>/dev/null ||
      .venv-pymc/bin/python -m pip install --quiet --disable-pip-version-check "${pip_pymc_peers[@]}"
    .venv-pymc/bin/python bench/pymc_models.py "${@:2}"
    return
  fi
  if [ "${1:-}" = --posteriordb ]; then
    setup xla
    python release
    .venv-xla/bin/python -c 'import stanli' 2>/dev/null || .venv-xla/bin/python -m pip install --quiet --disable-pip-version-check 'stanli>=0.24' ||
      say "stanli can't be installed here; its columns are left out"
    compiled=$(mktemp -d)  # so that what is called cold is cold in a second run, too
    trap 'rm -rf "$compiled"' EXIT
    BITALE_FLAGS=${BITALE_FLAGS:-},base_compiledir=$compiled OPENBLAS_NUM_THREADS=1 .venv-xla/bin/python bench/posteriordb/run.py "${@:2}"
    return
  fi
  if [ "${1:-}" = --gradbench ]; then
    setup xla
    python release
    .venv-xla/bin/python -c 'import cmeel' 2>/dev/null || .venv-xla/bin/python -m pip install --quiet --disable-pip-version-check cmeel-cppad ||
      say "CppAD can't be installed here; its column is left out"
    local program programs=(gradbench gradbench_by_hand)
    CMAKE_PREFIX_PATH=$(.venv-xla/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/cmeel.prefix cmake build/release >build/release.log 2>&1 ||
      { cat build/release.log >&2; die "configuring failed"; }
    for program in gradbench_cppad gradbench_adolc; do
      if ninja -C build/release -t query $program >/dev/null 2>&1; then programs+=($program); else say "$program is left out: its library is not here"; fi
    done
    build_targets release "${programs[@]}"
    compiled=$(mktemp -d)
    trap 'rm -rf "$compiled"' EXIT
    BITALE_FLAGS=${BITALE_FLAGS:-},base_compiledir=$compiled OPENBLAS_NUM_THREADS=1 .venv-xla/bin/python bench/gradbench/run.py build/release/bench "${@:2}"
    return
  fi
  if [ "${1:-}" = --sparse ]; then
    python release
    shift
    local interpreter=$venv/bin/python
    if [ "${1:-}" = --peers ]; then
      shift
      setup_peers
      .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check scipy sparsax || say "sparsax can't be installed here; its rows are left out"
      interpreter=.venv-peers/bin/python
      export BITALE_BENCH_PEERS=1 XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    fi
    OPENBLAS_NUM_THREADS=1 "$interpreter" bench/python/sparse.py "$@"
    return
  fi
  if [ "${1:-}" = --ablation ]; then
    python release
    BITALE_FLAGS=cache=off OPENBLAS_NUM_THREADS=1 "$venv/bin/python" bench/python/ablation.py "${@:2}"
    return
  fi
  if [ "${1:-}" = --casadi ]; then
    python release
    setup_peers
    .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check casadi || say "CasADi can't be installed here; its columns are left out"
    BITALE_BENCH_PEERS=1 OPENBLAS_NUM_THREADS=1 .venv-peers/bin/python bench/python/control.py "${@:2}"
    return
  fi
  python release
  build_targets release bitale_bench
  local interpreter=$venv/bin/python
  if [[ " $* " == *" --peers "* ]]; then
    setup_peers
    interpreter=.venv-peers/bin/python
  fi
  $interpreter bench/run.py "$@"
}
