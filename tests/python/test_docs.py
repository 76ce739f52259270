"""The code of README.md and of the pages in docs/ runs as written."""

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bitale as bt
from bitale.cli import main


DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page, language):
    found = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)
    assert found
    return found


def execute(code, page, names):
    exec(compile(code, page, "exec"), names)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("pictures.md", "python"):
        execute(code, "pictures.md", names)
    assert {"symbolic_graph_unopt.svg", "symbolic_graph_opt.svg", "apply.svg"} == {
        p.name for p in Path("pics").iterdir()
    }
    assert Path("step.html").read_text() == names["page"]


def test_functions():
    names = {}
    for code in blocks("functions.md", "python"):
        execute(code, "functions.md", names)


def test_extending():
    names = {"__name__": "extending"}
    for code in blocks("extending.md", "python"):
        execute(code, "extending.md", names)
    sources = "".join(
        (DOCS.parent / p).read_text()
        for p in (
            "tests/consumer/smooth.hpp",
            "tests/consumer/plugin.cpp",
            "examples/cpp/own_type.cpp",
        )
    )
    for code in blocks("extending.md", "cpp"):
        assert code.strip() in sources


def test_rewriters_in_cpp():
    source = (DOCS.parent / "tests/cpp/rewriting/extension_test.cpp").read_text()
    for code in blocks("extending_rewriting.md", "cpp"):
        assert code.strip("\n") in source


def test_the_page_on_lowering_has_the_passes_in_their_order():
    table = (DOCS.parent / "src/lowering/lower.cpp").read_text()
    passes = re.findall(r'^    \{"(\w+)",', table, re.M)
    page = (DOCS / "design/lowering.md").read_text()
    assert len(passes) > 10
    assert [name for name in re.findall(r"\*\*(\w+)\*\* \(`", page) if name in passes] == passes


def test_options_of_directives_have_a_line_each():
    """A second one on a line is part of the first: cards then neither have links nor show their text."""
    lines = [
        f"{page.name}: {line}"
        for page in DOCS.rglob("*.md")
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r":[a-z-]+:.* :[a-z-]+:", line)
    ]
    assert lines == []


def test_the_page_on_rewriters_has_the_phases_at_their_positions():
    page = (DOCS / "extending_rewriting.md").read_text()
    shown = re.findall(r"^\| ([\d.]+) \| `(\w+)` \| (yes)? ?\|$", page, re.M)
    # A new process: other tests register phases of their own.
    program = "import bitale as bt; print(*(f'{p:g} {n} {r}' for n, p, _, r in bt._core.optdb_entries()), sep='\\n')"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert [f"{position} {name} {rules == 'yes'}" for position, name, rules in shown] == (
        found.stdout.splitlines()
    )


def test_the_map_has_the_parts_in_the_order_that_the_layering_checks():
    path = DOCS.parent / "tests/layering/check.py"
    layering = importlib.util.spec_from_file_location("layering", path)
    check = importlib.util.module_from_spec(layering)
    layering.loader.exec_module(check)
    text = re.sub(r"\s+", " ", (DOCS / "design.md").read_text())
    assert f"(bottom to top in the picture): {', '.join(check.PARTS)}." in text


def test_op_from_graph():
    names = {}
    for code in blocks("op_from_graph.md", "python"):
        execute(code, "op_from_graph.md", names)


def test_linalg():
    names = {}
    for code in blocks("linalg.md", "python"):
        execute(code, "linalg.md", names)


def test_sparse():
    pytest.importorskip("scipy.sparse")
    names = {}
    for code in blocks("sparse.md", "python"):
        execute(code, "sparse.md", names)


def test_stats():
    names = {}
    for code in blocks("stats.md", "python"):
        execute(code, "stats.md", names)


def test_integrate():
    names = {}
    for code in blocks("integrate.md", "python"):
        execute(code, "integrate.md", names)


def test_optimizers():
    names = {}
    for code in blocks("optimizers.md", "python"):
        execute(code, "optimizers.md", names)


def test_xtensor():
    names = {}
    for code in blocks("xtensor.md", "python"):
        execute(code, "xtensor.md", names)


def test_linkers():
    names = {}
    for code in blocks("linkers.md", "python"):
        execute(code, "linkers.md", names)


def test_profiling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("profiling.md", "python"):
        execute(code, "profiling.md", names)
    assert Path("profile.html").read_text() == names["page"]


def commands(page):
    for line in "".join(blocks(page, "sh")).splitlines():
        program, *arguments = line.split()
        assert program == "bitale"
        yield arguments


def test_cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(bt.__file__).parents[1]), prepend=os.pathsep)
    names = {}
    with bt.config.change_flags(compiledir=str(tmp_path / "compiledir")):
        for code in blocks("cache.md", "python"):
            execute(code, "cache.md", names)
        for arguments in commands("cache.md"):
            assert main(arguments) == 0, arguments


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in blocks("command_line.md", "python"):
        Path("model.py").write_text(code)
    with bt.config.change_flags(compiledir=str(tmp_path / "compiledir")):
        for arguments in commands("command_line.md"):
            if arguments[0] == "--completion":
                pytest.importorskip("shtab")
                with pytest.raises(SystemExit) as stopped:
                    main(arguments)
                assert stopped.value.code == 0
            elif arguments[-1].endswith(".svg") and shutil.which("dot") is None:
                continue
            else:
                assert main(arguments) == 0, arguments
    assert Path("predict.html").exists()


def test_debugging(capsys):
    names = {}
    for code in blocks("debugging.md", "python"):
        execute(code, "debugging.md", names)
    out = capsys.readouterr().out
    assert "x is __str__ = [1. 2.]\n" in out
    assert "x has shape = (2,)\nx has max = 2.0\n" in out
    (shown,) = blocks("debugging.md", "text")
    message = [
        line for line in str(names["error"]).splitlines() if not line.startswith("  built at")
    ]
    assert message == [line for line in shown.splitlines() if not line.startswith("  built at")]


def test_wrong_result():
    names = {}
    for code in blocks("wrong-result.md", "python"):
        execute(code, "wrong-result.md", names)


def test_checkpoint(tmp_path, monkeypatch):
    """The second time, the loop goes on from where it was left."""
    monkeypatch.chdir(tmp_path)
    for first in (None, 100):
        names = {}
        for code in blocks("checkpoint.md", "python"):
            execute(code, "checkpoint.md", names)
        assert (names["found"] and names["found"].step) == first
        assert bt.checkpoint.steps("run") == [90, 100]


def test_random():
    names = {}
    for code in blocks("random.md", "python"):
        execute(code, "random.md", names)


def pages_of(*folders):
    return [
        page.relative_to(DOCS).as_posix()
        for folder in folders
        for page in sorted((DOCS / folder).glob("*.md"))
    ]


@pytest.mark.parametrize(
    "pages",
    [
        [each]
        for each in (
            "../README.md",
            "site/index.md",
            "pipeline.md",
            "extending_rewriting.md",
            *pages_of("tutorial", "start", "howto"),
        )
    ]
    + [pages_of("errors")],
    ids=lambda pages: pages[0],
)
def test_output_shown_on_pages(pages):
    """Runs each page in a separate process, since some pages register ops and rewrites; those of errors are short.
    Programs are printed for vectors of 256 bits."""
    tool = DOCS.parent / "tools" / "tutorial.py"
    ran = subprocess.run(
        [sys.executable, tool, "python", *(DOCS / page for page in pages)],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(bt.__file__).parents[1]),
            "BITALE_FLAGS": os.environ.get("BITALE_FLAGS", "") + ",target=x86-64-v3",
        },
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_each_class_of_errors_has_a_page():
    """Those that the library defines, and those of Python and NumPy that it raises."""
    pages = {
        page.stem: page.read_text()
        for page in (DOCS / "errors").glob("*.md")
        if page.stem != "README"
    }
    modules = [
        bt,
        *(
            importlib.import_module(f"bitale.{each}")
            for each in ("compile", "link", "graph.features", "assumptions", "configparser")
        ),
    ]
    names = [
        (module, name)
        for module in reversed(modules)
        for name in (*vars(module), *getattr(module, "__all__", ()))
    ]
    found = {
        value: f"{module.__name__}.{name}"
        for module, name in names
        if (value := getattr(module, name)) is not None
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and value.__module__.startswith("bitale")
    }
    assert len(found) >= 21
    for error, name in found.items():
        text = pages[error.__name__]
        assert (
            f"`{name}`, a" in text and f"{error.__base__.__name__}." in text.partition("\n## ")[0]
        ), name
    python = {"AssertionError", "AttributeError", "AxisError", "IndexError", "KeyError", "KeyboardInterrupt", "LinAlgError", "MemoryError",
              "NotImplementedError", "TypeError", "ValueError"}  # fmt: skip
    assert set(pages) == {error.__name__ for error in found} | python
    for name, text in pages.items():
        assert (
            text.startswith(f"# {name}\n") and "## How it looks" in text and "## What to do" in text
        )


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="Doxygen is not installed")
def test_cpp_reference(tmp_path):
    """Doxygen generates a page of each header, by the folders' subjects, in which functions have their comments; also for functions
    that are declared by macros of another header."""
    settings = f'@INCLUDE = docs/Doxyfile\nOUTPUT_DIRECTORY = "{tmp_path}"\n'
    ran = subprocess.run(
        ["doxygen", "-"], input=settings, cwd=DOCS.parent, capture_output=True, text=True
    )
    assert ran.returncode == 0 and "warning" not in ran.stderr, ran.stderr
    html = tmp_path / "html"
    assert "those of numpy.pad" in (html / "group__ops__arrange.html").read_text()
    assert (
        "The covariance matrix of the variables"
        in (html / "group__ops__statistics.html").read_text()
    )
    assert "normal_logpdf" in (html / "group__stats__densities.html").read_text()
    assert "negative_binomial" in (html / "group__xtensor__random.html").read_text()
    for header in DOCS.parent.glob("include/bitale/*/*.hpp"):
        page = f"group_{header.parent.name}_{header.stem}".replace("_", "__")
        assert (html / f"{page}.html").exists(), header


def test_links_of_pages():
    """The files and headings to which pages link exist."""
    for page in [DOCS.parent / "README.md", *DOCS.glob("**/*.md")]:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
            if re.match(r"\w+:", target):
                continue
            path, _, heading = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            if heading:
                headings = re.findall(r"^#+ (.*)", file.read_text(), re.M)
                assert heading in [
                    re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-")
                    for each in headings
                ], target


def test_overviews_link_to_all_pages():
    """The navigation of the site is made of the links of each folder's README."""
    for overview in (
        DOCS / "README.md",
        *DOCS.glob("[!s]*/README.md"),
        DOCS / "start" / "README.md",
    ):
        linked = set(re.findall(r"\]\(([\w-]+\.md)\)", overview.read_text()))
        assert linked >= {page.name for page in overview.parent.glob("*.md")} - {"README.md"}, (
            overview
        )


def test_pages_with_outdated_output(tmp_path):
    """The output shown on a page is compared with what its code prints, and updated on request."""
    tool, page = DOCS.parent / "tools" / "tutorial.py", tmp_path / "page.md"

    def outcome(*options):
        ran = subprocess.run(
            [sys.executable, tool, *options, "python", page], capture_output=True, text=True
        )
        return ran.returncode, ran.stdout

    first, second = "```python\nx = 3\n```\n\nwords\n", "```python\nprint(x)\n```\n"
    right = f"{first}\n{second}\n```text\n3\n```\n\nmore\n"
    for wrong in (
        right.replace("text\n3", "text\n4"),
        right.replace("\n```text\n3\n```\n", ""),
        right.replace("words\n", "```text\n3\n```\n"),
    ):
        page.write_text(wrong)
        code, message = outcome()
        assert code == 1 and "page.md" in message and page.read_text() == wrong
    page.write_text(right.replace("text\n3", "text\n4"))
    assert outcome("--write") == (0, "") and page.read_text() == right and outcome() == (0, "")
    page.write_text(right.replace("x = 3", "x = 1 / 0"))
    assert outcome()[0] == 1
    other = (
        first + second.replace("print(x)", "print('vector of 8')") + "\n```text\nvector of 4\n```\n"
    )
    page.write_text(other)
    assert outcome()[0] == 1 and outcome("--any-processor")[0] == 1
    page.write_text(other + "\nThe number\ndepends on the processor.\n")
    assert outcome()[0] == 1 and outcome("--any-processor") == (0, "")


def test_pages_that_ask_for_packages(tmp_path):
    """What comes behind `pip install` of a missing package is left out, so that pages run without it."""
    tool, page = DOCS.parent / "tools" / "tutorial.py", tmp_path / "page.md"
    text = "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```sh\npip install NAME\n```\n\n```python\nimport NAME\n```\n"
    outcomes = {}
    for name in ("no-such-package", "numpy"):
        page.write_text(text.replace("NAME", name))
        ran = subprocess.run([sys.executable, tool, "python", page], capture_output=True, text=True)
        outcomes[name] = (ran.returncode, ran.stdout, ran.stderr)
    assert outcomes == dict.fromkeys(outcomes, (0, "", ""))
    page.write_text(text.replace("pip install NAME", "pip list").replace("NAME", "no_such_package"))
    ran = subprocess.run([sys.executable, tool, "python", page], capture_output=True, text=True)
    assert ran.returncode == 1 and "no_such_package" in ran.stderr


def test_addresses_of_the_project(monkeypatch):
    """All in the package's metadata follow from the one that a person sets."""
    monkeypatch.syspath_prepend(DOCS.parent / "tools" / "metadata")
    project_urls = importlib.import_module("project_urls")
    urls = project_urls.dynamic_metadata("urls", {"repository": "https://forge.test/bitale/"})
    assert urls["Homepage"] == "https://forge.test/bitale" and len(urls) == 5
    assert urls["Issues"] == "https://forge.test/bitale/issues"
    assert project_urls.dynamic_metadata("urls", {"repository": ""}) == {}
    with pytest.raises(ValueError, match="https"):
        project_urls.urls("forge.test/bitale")
    described = project_urls.dynamic_metadata("readme", {})
    assert described["text"] == (DOCS.parent / "README.md").read_text()
    text = "[a](docs/a.md) [b](https://other.test/) [c](#here) `f(x)`"
    assert project_urls.readme(text, "https://forge.test/bitale/") == text.replace(
        "docs/", "https://forge.test/bitale/blob/main/docs/"
    )


def test_names_outside_of_code_blocks():
    """The names bt.NAME and pt.NAME in the text and tables of the tutorial exist."""
    for page in [DOCS / "pipeline.md", *(DOCS / "tutorial").glob("*.md")]:
        python = re.sub(r"```.*?```", "", page.read_text().split("\n## In C++")[0], flags=re.S)
        for code in re.findall(r"`([^`]+)`", python):
            for package, names in re.findall(r"\b(bt|pt)((?:\.\w+)+)", code):
                value = {"bt": bt, "pt": bt.tensor}[package]
                for name in names[1:].split("."):
                    assert hasattr(value, name), f"{page.name}: {code}"
                    value = getattr(value, name)


def test_phrases_that_lint_refuses(tmp_path):
    tool, page = DOCS.parent / "tools" / "check_language.py", tmp_path / "page.md"
    for text, is_fine in [
        ("The least of them is beside the others.", False),
        ("There is none beside `that is no name` and ```beside```.", False),
        ("There is none; at least one is next to the others, by least squares.", True),
        ("Code such as `x is none` and `that is no name` is not read.", True),
        ("There is\nnone.", True),
    ]:
        page.write_text(f"# Page\n\n```text\nbeside\n```\n\n{text}\n")
        ran = subprocess.run([sys.executable, tool, page], capture_output=True, text=True)
        assert (ran.returncode == 0) == is_fine, ran.stdout
        assert is_fine or f"{page}:7: " in ran.stdout
    page.write_text("A phrase that is\nno phrase.\n")
    ran = subprocess.run([sys.executable, tool, page], capture_output=True, text=True)
    assert f"{page}:2: " in ran.stdout
