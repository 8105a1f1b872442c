# SPDX-License-Identifier: Apache-2.0
"""Shared by the interoperation tests. A test file is a program:

    python checkpoints.py PROGRAM       PROGRAM: the program in C++, built from the .cpp of the same name

Its last line is `N passed, N failed`. If the original's readers cannot be imported, it reports that and exits with 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"


class InteropTest(unittest.TestCase):
    """A test with a temporary folder, `self.folder`, which is removed after it."""

    program = None  # the program in C++

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="crochet-interop-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_program(self, *words):
        """Runs the program in C++. Returns its exit status and its output."""
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def ours(self, *words):
        """Runs the program in C++, which must succeed. Returns its output."""
        status, text = self.run_program(*words)
        self.assertEqual(status, 0, f"{words}: {text}")
        return text


def main():
    """Runs the tests of the calling file."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    InteropTest.program = os.path.abspath(sys.argv.pop())
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    sys.exit(1 if failed or result.testsRun == 0 else 0)


def skip(why):
    """Exits with the status for skipped tests: the original's readers are missing."""
    print(f"skipped: {why}; `make full` installs what tests/interop needs")
    sys.exit(77)
