# ./dev lint, docs, reference: format, layering, types, docstrings; the site and the reference of C++.

lint() {
  setup lint
  local files=()
  mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*.h' ':!third_party')
  if [ "${1:-}" = --fix ]; then
    clang-format -i "${files[@]}"
    setup_lint
    $venv/bin/ruff format --quiet .
  fi
  local bad
  bad=$(printf '%s\0' "${files[@]}" | xargs -0 -P "$jobs" -n 40 clang-format --dry-run --Werror 2>&1 | sed -n 's/:[0-9].*//p' | sort -u) || true
  [ -z "$bad" ] || die "not in the house's format (./dev lint --fix puts it right): "$bad
  python3 tests/layering/check.py .
  python3 tests/layering/python_check.py .
  python3 tools/check_language.py || die "not as a native speaker would write it (tools/check_language.py has the phrases)"
  lint_python
  say "Lint: ${#files[@]} files of C++ are fine, and so are those of Python"
}

setup_lint() {
  setup_venv
  $venv/bin/python -c 'import numpydoc' 2>/dev/null && [ -x $venv/bin/ruff ] && [ -x $venv/bin/mypy ] ||
    $venv/bin/python -m pip install --quiet --disable-pip-version-check "${pip_lint[@]}"
}

# Rules and layout of ruff; types of the package and of programs that use it; the sections of docstrings. The last two look at the
# module that was built last.
lint_python() {
  setup_lint
  $venv/bin/ruff check --quiet . || die "ruff complains (ruff.toml has the rules)"
  $venv/bin/ruff format --quiet --check . || die "not in the layout of ruff format (./dev lint --fix puts it right)"
  if [ ! -e python/bitale/_core.pyi ]; then
    say "Types and docstrings are checked after ./dev python dev"
    return
  fi
  $venv/bin/mypy --config-file mypy.ini || die "mypy complains (mypy.ini has its settings)"
  $venv/bin/python tools/check_docstrings.py || die "docstrings lack something (tools/check_docstrings.py has the checks)"
}

reference() {
  setup reference
  mkdir -p build/reference
  doxygen docs/Doxyfile
  say "C++ reference: build/reference/html/index.html"
}

# The module that was built last is described; one is built where there is none.
docs() {
  local serve=no
  if [ "${1:-}" = --serve ]; then
    serve=yes
    shift
  fi
  setup docs
  compgen -G 'python/bitale/_core*.so' >/dev/null || python release
  .venv-docs/bin/python docs/site/build.py "$@" || die "the site has errors"
  if [ $serve = yes ]; then .venv-docs/bin/python -m http.server --bind localhost --directory build/site "${PORT:-8000}"; fi
}
