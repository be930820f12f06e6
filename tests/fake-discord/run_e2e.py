"""Runs the end-to-end tests: `python run_e2e.py [-k WORDS] [--jobs N]`.

In: GUILDHALL_BIN, the program under test. Out: Python's own test report, exit code 1 when a test
failed. Never: a test that is left out because something is missing.

Most tests wait for a timer of the product, so classes of tests run side by side, each in a process of
its own with its own fake and its own seats.
"""

import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from e2e import asks, commands, crashes, demo_models, diagnosis, drops, lengths, native
from e2e import asks_cards, asks_life, asks_people, asks_tools, git
from e2e import ops_check, ops_control, ops_init, ops_locks, ops_reload, ops_service
from e2e import pi, refusals, regressions, replies, secrets, seat, tools

# Test names are sentences: these are the words that they begin with.
FIRST_WORDS = ("a_", "an_", "another_", "each_", "every_", "kills_", "no_", "nothing_", "odd_", "the_")


# A name with so many underscores is a sentence.
SENTENCE_MIN = 5


class Sentences(unittest.TestLoader):
    testMethodPrefix = FIRST_WORDS

    def getTestCaseNames(self, case):
        # A sentence that begins with another word would be left out without a sound.
        odd = [n for n in dir(case) if n.count("_") >= SENTENCE_MIN and n[0].isalpha()
               and not n.startswith(FIRST_WORDS) and not hasattr(unittest.TestCase, n)]
        assert not odd, f"no test begins with that word: {odd}"
        return super().getTestCaseNames(case)

    def loadTestsFromModule(self, module, *, pattern=None):
        names = [n for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__]
        cases = [getattr(module, n) for n in names if issubclass(getattr(module, n), unittest.TestCase)]
        return self.suiteClass([self.loadTestsFromTestCase(case) for case in cases])


# Classes of tests that run at the same time.
JOBS = 4
# Longest that one class may take, in seconds.
CLASS_MAX_SECONDS = 900


def option(name: str) -> list[str]:
    return [value for flag, value in zip(sys.argv, sys.argv[1:]) if flag == name]


def modules() -> list:
    found = [replies, drops, lengths, secrets, refusals, commands, crashes, native, regressions, asks, tools, diagnosis, pi, demo_models]
    found += [asks_cards, asks_life, asks_people, asks_tools, git]
    found += [ops_check, ops_init, ops_locks, ops_reload, ops_service, ops_control]
    return found


def run_here(patterns: list[str]) -> int:
    loader = Sentences()
    loader.testNamePatterns = patterns or None
    suite = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules())
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


def classes() -> list[str]:
    """Every class of tests, by module and name."""
    found = []
    for test in flattened(Sentences().loadTestsFromModule(module) for module in modules()):
        name = f"{type(test).__module__}.{type(test).__name__}"
        if name not in found:
            found.append(name)
    return found


def flattened(suites):
    for suite in suites:
        if isinstance(suite, unittest.TestCase):
            yield suite
        else:
            yield from flattened(suite)


def run_class(name: str) -> tuple[str, int, str]:
    command = [sys.executable, __file__, "--class", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CLASS_MAX_SECONDS)
    return name, done.returncode, done.stdout + done.stderr


def run_side_by_side(jobs: int) -> int:
    ran = failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for name, code, output in pool.map(run_class, classes()):
            print(f"\n== {name}\n{output}", end="", flush=True)
            count = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
            ran += int(count.group(1)) if count else 0
            failed += code != 0
    print(f"\nRan {ran} tests in all; {failed} classes failed")
    return 0 if failed == 0 and ran > 0 else 1


def main() -> int:
    seat.program()
    if chosen := option("--class"):
        return run_here([f"{name}.*" for name in chosen])
    if words := option("-k"):
        return run_here([f"*{word}*" for word in words])
    return run_side_by_side(int((option("--jobs") or [JOBS])[0]))


if __name__ == "__main__":
    sys.exit(main())
