"""Small graphs that TensorFlow makes and both run: the same values, or errors of the same class.

    checks = Checks()
    checks.add("name", lambda: [tensors])           # or Steps(init, fetches)
    @checks.test                                     # a test a name, all run in one batch
"""
import dataclasses
import pathlib
import typing

import numpy as np
import pytest

from op_line import Steps
from oracle import Job, difference, run_jobs, session, tf

READER_OPS = "ReadFile MatchingFiles " + " ".join(name + form for form in ("", "V2") for name in (
    "TextLineReader TFRecordReader WholeFileReader FixedLengthRecordReader IdentityReader ReaderRead ReaderReadUpTo "
    "ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted ReaderReset").split())
PARSING_OPS = ("DecodeCSV DecodeRaw StringToNumber StringSplit StringSplitV2 ParseExample ParseExampleV2 ParseSingleExample "
               "SparseToDense")
CLASSES = {number: name.replace("_", "").lower() for name, number in vars(tf.errors).items() if name.isupper()}


@dataclasses.dataclass
class Check:
    name: str
    build: typing.Callable
    ours: str = None     # the class of our error where TensorFlow gives values: a difference on purpose
    values: list = None  # what TensorFlow gave
    error: str = None    # or the class of its error
    job: Job = None

    def run_theirs(self, folder):
        with tf.Graph().as_default() as graph:
            made = self.build()
            steps = made if isinstance(made, Steps) else Steps(None, list(made))
            path = pathlib.Path(folder) / f"{self.name}.pb"
            path.write_bytes(graph.as_graph_def().SerializeToString())
            names = [tensor.name for tensor in steps.fetches]
            self.job = Job(path, names, path.with_suffix(""), init=steps.init and steps.init.name)
            try:
                with session(graph) as theirs:
                    if steps.init is not None:
                        theirs.run(steps.init)
                    self.values = dict(zip(names, theirs.run(steps.fetches, options=tf.RunOptions(timeout_in_ms=20000))))
            except tf.errors.OpError as error:
                self.error = CLASSES[error.error_code]

    def failure(self):
        wanted = self.ours or self.error
        if wanted:
            found = self.job.code and self.job.code.lower()
            return None if found == wanted else f"{found}: {self.job.error}, TensorFlow's error is {self.error}"
        if self.job.error:
            return self.job.error
        for name, theirs in self.values.items():
            if why := difference(self.job.values[name], np.asarray(theirs)):
                return f"{name} is {why}"
        return None


class Checks:
    def __init__(self):
        self.all = []
        self.ran = False

    def add(self, name, build, **options):
        self.all.append(Check(name, build, **options))

    def run(self, folder):
        if not self.ran:
            self.ran = True
            for check in self.all:
                check.run_theirs(folder)
            run_jobs([check.job for check in self.all], folder)

    def test(self, function):
        """`function` takes a check that both sides have run."""
        @pytest.mark.parametrize("check", self.all, ids=lambda check: check.name)
        def test(check, tmp_path_factory):
            self.run(None if self.ran else tmp_path_factory.mktemp("checks"))
            function(check)
        return test
