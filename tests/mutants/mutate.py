"""Break the package one line at a time, and see whether its tests notice.

``mutants.toml`` lists the mutants: a piece of code that occurs once in its file, and what it is
changed to. Each is made in a copy of the package, never in the checkout, and the tests that it
names, then those of its file, are run there. A mutant that no test notices is a line that could be
wrong unseen.

One with ``harmless`` can make no promise false; the text says why. It does not count.

    python tests/mutants/mutate.py --room certificate
    python tests/mutants/mutate.py --number 12 13 --processes 2
"""

import argparse
import ast
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("mutants.toml")
COPIED = (
    *("skrldp", "tests", "docs", "examples", "benchmarks", "fuzz", "javascript"),
    *("pyproject.toml", "README.md", "CONTRIBUTING.md"),
)
KEYS = {"file", "code", "mutated", "tests", "harmless"}
_seconds = itertools.count(int(time.time()))
WANTED = 0.95  # of those that are not harmless
NOTICED = {1, 2}  # pytest's codes: a test failed, or could not even be imported


@dataclass(frozen=True)
class Mutant:
    """One change of one file, with the tests that should notice it."""

    number: int
    file: str  # below skrldp/
    code: str
    mutated: str
    tests: tuple[str, ...]  # below tests/
    harmless: str = ""

    @property
    def room(self) -> str:
        return self.file.partition("/")[0].removesuffix(".py")

    def __str__(self) -> str:
        lines = [line.strip() for line in (self.code, self.mutated)]
        before, after = (" ".join(line.split()) for line in lines)
        return f"{self.number:4} {self.file}: {before}  ->  {after}"


def read(path: Path = LIST) -> list[Mutant]:
    """Read the list; numbers are places in it, from 1."""
    whole = tomllib.loads(path.read_text(encoding="utf-8"))
    of_file, mutants = whole["tests"], []
    for number, entry in enumerate(whole["mutant"], start=1):
        if strange := entry.keys() - KEYS:
            raise ValueError(f"mutant {number} has the unknown key {min(strange)!r}.")
        names = [name for name in of_file if entry["file"].startswith(name)]
        if not names:
            raise ValueError(f"mutant {number}: no tests are listed for {entry['file']}.")
        tests = tuple(entry.pop("tests", ())) + tuple(of_file[max(names, key=len)])
        mutants.append(Mutant(number, **entry, tests=tuple(dict.fromkeys(tests))))
    return mutants


def wrong(mutant: Mutant, root: Path = ROOT) -> str | None:
    """Say why a mutant does not fit the package and its tests; None if it does."""
    path = root / "skrldp" / mutant.file
    if not path.is_file():
        return f"{mutant}\n     there is no such file"
    text = path.read_text(encoding="utf-8")
    if (found := text.count(mutant.code)) != 1:
        return f"{mutant}\n     the code is there {found} times, not once"
    if mutant.mutated == mutant.code:
        return f"{mutant}\n     it changes nothing"
    try:
        ast.parse(text.replace(mutant.code, mutant.mutated))
    except SyntaxError as error:
        return f"{mutant}\n     the result is no Python ({error})"
    absent = [name for name in mutant.tests if not (root / "tests" / name).exists()]
    return f"{mutant}\n     there is no tests/{absent[0]}" if absent else None


# --- Running -------------------------------------------------------------------------------------


def copy_of_the_package(folder: Path) -> Path:
    """Copy what the tests need, and check that Python takes the package from there."""
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    shown = "import skrldp; print(skrldp.__file__)"
    done = run([sys.executable, "-c", shown], folder, 60.0)
    assert done is not None, "the package could not be imported within a minute"
    place = Path(done.stdout.strip() or "/")
    if not place.is_relative_to(folder):
        raise SystemExit(f"The tests would see {place}, not the copy: {done.stderr}")
    return folder


def run(
    command: Sequence[str], folder: Path, timeout: float
) -> subprocess.CompletedProcess[str] | None:
    """Run a command in the copy; None if it takes too long."""
    path = os.pathsep.join(filter(None, [str(folder), os.getenv("PYTHONPATH")]))
    own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return None


def write(path: Path, text: str) -> None:
    """Write a file, each time as of another second: so Python sees that its bytecode is old."""
    path.write_text(text, encoding="utf-8")
    moment = next(_seconds)
    os.utime(path, (moment, moment))


def files_of(tests: Sequence[str], folder: Path) -> list[str]:
    """List the files, those of folders too, in this order; of folders pytest takes its own."""
    paths = [folder / "tests" / name for name in tests]
    files = [sorted(path.rglob("test_*.py")) if path.is_dir() else [path] for path in paths]
    return list(dict.fromkeys(str(file) for some in files for file in some))


def pytest_in(
    folder: Path, tests: Sequence[str], timeout: float
) -> subprocess.CompletedProcess[str] | None:
    options = ("-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider")
    return run([sys.executable, *options, *files_of(tests, folder)], folder, timeout)


def outcome(mutant: Mutant, folder: Path, timeout: float) -> tuple[str, str]:
    """Make a mutant in the copy, run its tests, and put the file back; say which test noticed."""
    path = folder / "skrldp" / mutant.file
    text = path.read_text(encoding="utf-8")
    write(path, text.replace(mutant.code, mutant.mutated))
    try:
        done = pytest_in(folder, mutant.tests, timeout)
    finally:
        write(path, text)
    if done is None:
        return "killed", f"no answer within {timeout:g} s"
    if done.returncode in NOTICED:
        lines = done.stdout.splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        return "killed", failed[0].partition(" - ")[0] if failed else "error"
    if done.returncode == 0:
        return "survived", ""
    raise RuntimeError(f"pytest ended with code {done.returncode}:\n{done.stdout}{done.stderr}")


def check_unchanged(mutants: Sequence[Mutant], folder: Path) -> None:
    """Stop unless the tests pass without any mutant: else every mutant would seem noticed."""
    tests = sorted({name for mutant in mutants for name in mutant.tests})
    print(f"The tests without mutants: {' '.join(tests)}", flush=True)
    done = pytest_in(folder, tests, 3600.0)
    if done is None or done.returncode != 0:
        raise SystemExit("They do not pass.\n" + (done.stdout[-3000:] if done else "Too slow."))


def chosen(mutants: Sequence[Mutant], options: argparse.Namespace) -> list[Mutant]:
    rooms, numbers = set(options.room), set(options.number)
    if strange := rooms - {mutant.room for mutant in mutants}:
        raise SystemExit(f"There are no mutants in {', '.join(sorted(strange))}.")
    if strange_numbers := numbers - {mutant.number for mutant in mutants}:
        raise SystemExit(f"There is no mutant {min(strange_numbers)}.")
    return [
        mutant
        for mutant in mutants
        if (not rooms or mutant.room in rooms)
        and (not numbers or mutant.number in numbers)
        and (options.harmless or numbers or not mutant.harmless)
    ]


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Do the tests notice a wrong line?")
    parser.add_argument("--room", nargs="+", default=[], help="only these rooms: joint, client")
    parser.add_argument("--number", nargs="+", type=int, default=[], help="only these mutants")
    parser.add_argument("--processes", type=int, default=1, help="how many at a time")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for a mutant's tests")
    parser.add_argument("--harmless", action="store_true", help="run the harmless ones as well")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests unchanged")
    return parser.parse_args(arguments)


def print_scores(results: Sequence[tuple[Mutant, str]]) -> float:
    """Print how many mutants of each room were noticed; return the share of all."""
    judged = [(mutant.room, result) for mutant, result in results if not mutant.harmless]
    noticed = Counter(room for room, result in judged if result == "killed")
    everywhere = Counter(room for room, _ in judged)
    print()
    for room, number in sorted(everywhere.items()):
        print(f"{room:20} {noticed[room]} of {number} were noticed ({noticed[room] / number:.1%})")
    score = noticed.total() / len(judged) if judged else 1.0
    print(f"{'all':20} {noticed.total()} of {len(judged)} were noticed ({score:.1%})")
    return score


def main(arguments: Sequence[str] | None = None) -> int:
    options, everything = options_of(arguments), read()
    if complaints := [text for mutant in everything if (text := wrong(mutant))]:
        print("The list is not true any more:", *complaints, sep="\n")
        return 2
    mutants = chosen(everything, options)
    folders: SimpleQueue[Path] = SimpleQueue()

    def judge(mutant: Mutant) -> tuple[Mutant, str]:
        folder, start = folders.get(), time.perf_counter()
        try:
            result, test = outcome(mutant, folder, options.timeout)
        finally:
            folders.put(folder)
        kind = "harmless" if mutant.harmless else result
        print(f"{kind:9} {time.perf_counter() - start:5.0f} s {mutant}  {test}", flush=True)
        return mutant, result

    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copies = [copy_of_the_package(Path(name) / str(n)) for n in range(options.processes)]
        if not options.unchecked:
            check_unchanged(mutants, copies[0])
        for folder in copies:
            folders.put(folder)
        with ThreadPoolExecutor(options.processes) as pool:
            results = list(pool.map(judge, mutants))
    score = print_scores(results)
    refuted = [mutant for mutant, result in results if mutant.harmless and result == "killed"]
    if refuted:
        print("A test notices these, so they are not harmless:", *refuted, sep="\n")
    return 0 if score >= WANTED and not refuted else 1


if __name__ == "__main__":
    sys.exit(main())
