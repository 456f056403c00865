"""Every line of op_table.py on every case and dtype: TensorFlow's graph, run by TensorFlow and by `runnel run --batch`.

All graphs are made and run by TensorFlow first, then one process of ours runs them, then each line is a test. With
pytest's -k only the lines chosen are built.
"""
import pathlib
import shutil
import tempfile

import pytest

from op_cases import KERNELS, Case, run_cases, types_of
from op_table import NO_LINE, OPS


def memory_folder(tmp_path_factory):
    """Thousands of small files, each synced: in memory where the machine has such a folder."""
    if not pathlib.Path("/dev/shm").is_dir():
        return tmp_path_factory.mktemp("ops")
    return pathlib.Path(tempfile.mkdtemp(prefix="runnel_ops.", dir="/dev/shm"))


@pytest.fixture(scope="session")
def ran(request, tmp_path_factory):
    """{line id: its cases}, all run on both sides."""
    folder = memory_folder(tmp_path_factory)
    chosen = {item.callspec.params["line"].id for item in request.session.items
              if hasattr(item, "callspec") and "line" in item.callspec.params}
    done = {line.id: [Case(line, dtype, name) for dtype in types_of(line) for name in line.cases]
            for line in OPS if line.id in chosen}
    run_cases(sum(done.values(), []), folder)
    yield done
    shutil.rmtree(folder)


@pytest.mark.parametrize("line", OPS, ids=lambda line: line.id)
def test_op_gives_tensorflows_values_and_gradients(line, ran):
    cases = ran[line.id]
    refused = [case.refused for case in cases if case.refused]
    assert not refused, "\n".join(refused)
    compared = [case for case in cases if case.job]
    assert compared, f"TensorFlow runs none: {cases[0].skipped}"
    assert any(line.name in case.ops for case in cases), f"no graph of this line has a {line.name}"
    failures = [why for case in compared if (why := case.failure())]
    assert not failures, f"{len(failures)} of {len(compared)} cases differ:\n" + "\n".join(failures)


@pytest.mark.parametrize("line", [line for line in OPS if line.gradient], ids=lambda line: line.id)
def test_op_has_tensorflows_gradient_where_runnel_differentiates(line, ran):
    compared = [case for case in ran[line.id] if case.job and case.slopes]
    failures = [why for case in compared if (why := case.slope_failure())]
    assert not failures, f"{len(failures)} of {len(compared)} cases differ:\n" + "\n".join(failures)


def test_every_op_has_a_line():
    lines = {line.name for line in OPS}
    missing = KERNELS.keys() - lines - NO_LINE.keys()
    assert not missing, f"no line in op_table.py: {sorted(missing)}"
    assert not lines & NO_LINE.keys()
