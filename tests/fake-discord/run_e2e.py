"""Runs the end-to-end tests: `python run_e2e.py [-k WORDS] [-v]`.

In: GUILDHALL_BIN, the program under test. Out: Python's own test report, exit code 1 when a test
failed. Never: a test that is left out because something is missing.
"""

import sys
import unittest

from e2e import commands, crashes, drops, lengths, native
from e2e import refusals, regressions, replies, secrets, seat

# Test names are sentences: these are the words that they begin with.
FIRST_WORDS = ("a_", "an_", "another_", "each_", "every_", "kills_", "no_", "nothing_", "odd_", "the_")


class Sentences(unittest.TestLoader):
    testMethodPrefix = FIRST_WORDS

    def loadTestsFromModule(self, module, *, pattern=None):
        names = [n for n, c in vars(module).items() if isinstance(c, type) and c.__module__ == module.__name__]
        cases = [getattr(module, n) for n in names if issubclass(getattr(module, n), unittest.TestCase)]
        return self.suiteClass([self.loadTestsFromTestCase(case) for case in cases])


def main() -> int:
    seat.program()
    loader = Sentences()
    words = [w for flag, w in zip(sys.argv, sys.argv[1:]) if flag == "-k"]
    loader.testNamePatterns = [f"*{word}*" for word in words] or None
    modules = [replies, drops, lengths, secrets, refusals, commands, crashes, native, regressions]
    suite = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
