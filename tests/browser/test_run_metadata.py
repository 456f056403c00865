"""What a person sees of a recorded run in TensorBoard's graph page: colours by compute time and by memory, and the numbers."""
import subprocess

import pytest

from conftest import BUILD
from page import TensorBoard, open_tab, read, wait_for


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([BUILD / "tests/interop/record_run", folder], check=True)
    with TensorBoard(folder / "logs", True) as server:
        wait_for("both steps", lambda: {"step 1", "step 2"} <= server.data("plugin/graphs/info")["."]["tags"].keys())
        yield server


def fills(driver):
    return dict(read(driver, """
        return find('tf-graph-scene', 'g.node > .nodeshape rect, g.node > .nodeshape ellipse')
            .map(e => [e.closest('g.node').getAttribute('data-name'), getComputedStyle(e).fill])"""))


def colour_by(driver, what):
    """What ran has a colour; what did not is hatched."""
    wait_for(f"the choice of {what}", lambda: read(driver, f"return find('tf-graph-controls', '#{what}-radio-button').some(e => !e.disabled)"))
    read(driver, f"find('tf-graph-controls', '#{what}-radio-button')[0].click()")
    return wait_for("colours", lambda: (lambda all: all if "Hatch" in all.get("x", "") and all["layer"].startswith("rgb") else None)(fills(driver)))


def test_a_recorded_run_is_coloured_and_has_numbers(board, driver, shots):
    open_tab(driver, board, "graphs")
    wait_for("nodes", lambda: fills(driver))
    read(driver, "find('tf-graph-controls', 'paper-item').find(e => e.textContent.trim() == 'step 1').click()")
    assert colour_by(driver, "memory")["gradients"].startswith("rgb")
    times = colour_by(driver, "compute-time")
    assert all(times[name].startswith("rgb") for name in ("layer", "gradients", "GradientDescent", "run"))
    assert "Hatch" in times["init"]
    # The scene is drawn anew when colours change, and a click on what is replaced is lost: until one is answered.
    cells = wait_for("the numbers", lambda: read(driver, """
        const cells = find('tf-node-info', '.sub-list-table-cell').map(e => e.textContent.trim())
        if (cells.length == 0)
            find('tf-graph-scene', 'g.node').find(e => e.getAttribute('data-name') == 'layer').querySelector('.nodeshape')
                .children[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))
        return cells"""))
    driver.save_screenshot(str(shots / "run_metadata.png"))
    numbers = dict(zip(cells[::2], cells[1::2]))
    assert numbers["Memory"] == "400 KB"  # two values of 256 x 200 floats
    assert float(numbers["Compute Time"].split()[0]) > 0
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
