# ./dev setup: installs what a part of the work needs and does not find, Debian packages and Python environments.

setup() {
  [ $# -gt 0 ] || set -- build python lint
  local part
  for part; do
    case $part in
      build) install_debian "${debian_build[@]}" ;;
      lint) install_debian "${debian_lint[@]}" ;;
      reference) install_debian "${debian_reference[@]}" ;;
      arm) install_debian "${debian_arm[@]}" ;;
      clang) install_debian "${debian_clang[@]}" ;;
      packages) install_debian "${debian_packages[@]}" ;;
      python)
        install_debian "${debian_pictures[@]}"
        setup_venv
        ;;
      browser)
        install_debian "${debian_browser[@]}"
        setup_venv
        setup_browser_driver
        ;;
      xla)
        setup_venv
        setup_xla
        ;;
      docs)
        install_debian "${debian_reference[@]}" "${debian_pictures[@]}"
        setup_venv
        setup_docs
        ;;
      pymc)
        setup_venv
        setup_pymc
        ;;
      peers)
        setup_venv
        setup_peers
        ;;
      *) die "setup: no part '$part' (build, python, lint, browser, arm, clang, packages, peers, pymc, xla, reference, docs)" ;;
    esac
  done
}

install_debian() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return  # not Debian: CMake names what it lacks
    die "this is no Debian; please install the counterparts of: $*"
  fi
  for package; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; then
      root=(sudo)
    else
      die "some Debian packages are missing. As root: apt-get install --no-install-recommends ${missing[*]}"
    fi
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${root[@]}" apt-get update -qq || say "apt-get update failed; trying with the package lists as they are"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install: ${missing[*]}"
}

# Can this interpreter make a virtual environment, and build an extension module?
suitable_python() {
  "$1" - 2>/dev/null <<'END'
import os, sys, sysconfig, venv, ensurepip
header = os.path.join(sysconfig.get_path("include"), "Python.h")
ok = sys.version_info >= (3, 10) and sys.version_info.releaselevel == "final" and os.path.exists(header)
print("%d.%d" % sys.version_info[:2] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))
sys.exit(not ok)
END
}

# "VERSION FILE" of each suitable Python of the PATH and pyenv, the oldest first; 3.14t is one without a global lock.
suitable_pythons() {
  local candidate version
  for candidate in /usr/bin/python3 $(type -aP python3 python3.{10..14} python3.{13,14}t || true) \
      "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do  # 3.14.0t is a folder there
    if [ -x "$candidate" ] && version=$(suitable_python "$candidate"); then printf '%s %s\n' "$version" "$candidate"; fi
  done | sort -s -t. -k2,2n
}

# The newest suitable Python of: $PYTHON, the PATH, pyenv's.
find_python() {
  if [ -n "${PYTHON:-}" ]; then
    suitable_python "$PYTHON" >/dev/null || die "PYTHON=$PYTHON: need Python >= 3.10 with venv and its C headers"
    printf '%s\n' "$PYTHON"
    return
  fi
  suitable_pythons | sed '/^[0-9.]*t /d' | tail -1 | cut -d' ' -f2-
}

# The Python of .venv, or the one that it would be made of.
base_python() {
  local python=$venv/bin/python
  if ! $python -c 'import pip' 2>/dev/null; then
    python=$(find_python)
    if [ -z "$python" ]; then
      install_debian "${debian_python[@]}"
      python=$(find_python)
    fi
    [ -n "$python" ] || die "no Python >= 3.10 that has venv and its C headers; name one with PYTHON=/path/to/python"
  fi
  printf '%s\n' "$python"
}

setup_venv() {
  local stamp=$venv/.packages python
  [ "$(cat "$stamp" 2>/dev/null)" = "${pip_packages[*]}" ] && [ -x $venv/bin/python ] && return
  python=$(base_python)
  if [ "$python" != $venv/bin/python ]; then
    say "Making $venv with $("$python" --version) ($python)"
    rm -rf $venv
    "$python" -m venv $venv
  fi
  say "Installing Python packages: ${pip_packages[*]}"
  $venv/bin/python -m pip install --quiet --disable-pip-version-check "${pip_packages[@]}"
  find_checkout $venv
  printf '%s' "${pip_packages[*]}" >$stamp
}

setup_browser_driver() {
  $venv/bin/python -c 'import playwright' 2>/dev/null ||
    $venv/bin/python -m pip install --quiet --disable-pip-version-check "${pip_browser[@]}"
}

setup_python_tests() {
  $venv/bin/python -c 'import rich, xdist' 2>/dev/null ||
    $venv/bin/python -m pip install --quiet --disable-pip-version-check "${pip_test[@]}"
}

# setup_environment FOLDER checkout|alone PACKAGE...: an environment apart from .venv, whose Python it shares where there is
# one, with or without the package of this checkout; made anew when the packages are others.
setup_environment() {
  local folder=$1 stamp=$1/.packages contents=$2 python
  shift 2
  [ "$(cat $stamp 2>/dev/null)" != "$*" ] || return 0
  say "Installing into $folder: $*"
  rm -rf "$folder"
  python=$(base_python)
  "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
  [ "$contents" = alone ] || find_checkout "$folder"
  printf '%s' "$*" >"$stamp"
}

# find_checkout FOLDER: `import bitale` in that environment is the package of this checkout.
find_checkout() {
  printf '%s\n' "$PWD/python" >"$("$1/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/bitale-checkout.pth"
}

setup_pymc() { setup_environment .venv-pymc checkout "${pip_pymc[@]}"; }
setup_xla() { setup_environment .venv-xla checkout "${pip_xla[@]}"; }
setup_docs() { setup_environment .venv-docs checkout "${pip_docs[@]}"; }
setup_peers() { setup_environment .venv-peers checkout "${pip_peers[@]}"; }
setup_release() { setup_environment .venv-release alone "${pip_release[@]}"; }
