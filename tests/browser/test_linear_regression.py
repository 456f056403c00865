"""What a person sees in TensorBoard after the linear regression was stopped and resumed: curves, histograms, the graph."""
import subprocess
import time

import pytest

from conftest import BUILD
from page import TensorBoard, has_all, open_tab, read, wait_for

TAG = "gradient_descent/linear_loss"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """40 rounds, then on to 101 in a second process: the curve must not show a round twice."""
    out = tmp_path_factory.mktemp("run")
    program = str(BUILD / "train/examples/linear_regression")
    subprocess.run([program, "--out", str(out), "--steps", "41"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "--out", str(out), "--steps", "101", "--resume"], check=True, stdout=subprocess.DEVNULL)
    return out / "logs"


@pytest.fixture(scope="module", params=[False, True], ids=["slow reader", "fast reader"])
def board(request, logs):
    with TensorBoard(logs, request.param) as server:
        wait_for("the whole run", lambda: has_all(server, "scalars", ".", TAG, 100) and all(
            has_all(server, "histograms", ".", tag, 100) for tag in server.data("plugin/histograms/tags")["."]))
        yield server


def test_the_loss_has_each_step_once_and_falls(board):
    points = board.data("plugin/scalars/scalars", run=".", tag=TAG)
    assert [step for _, step, _ in points] == list(range(0, 101, 2))
    assert points[-1][2] < points[0][2] * 1e-3


def test_the_loss_curve_is_drawn(board, driver, shots):
    open_tab(driver, board, "scalars")
    paths = wait_for("the curve", lambda: read(driver, """
        return find('tf-scalar-card', 'svg path').map(p => (p.getAttribute('d') || '').split(/[ML]/).length).filter(n => n > 20)"""))
    driver.save_screenshot(str(shots / "line_scalars.png"))
    assert max(paths) >= 51


def test_both_histograms_are_drawn_with_a_ridge_a_step(board, driver, shots):
    open_tab(driver, board, "histograms")
    ridges = wait_for("two histograms", lambda: (lambda n: n if len(n) == 2 and min(n) > 40 else None)(read(driver, """
        return find('vz-histogram-timeseries').map(h => below(h, '.histogram path').filter(p => p.getAttribute('d')).length)""")))
    time.sleep(1)  # the picture is moved into place
    driver.save_screenshot(str(shots / "line_histograms.png"))
    assert min(ridges) > 40


def test_the_graph_shows_the_scopes(board, driver, shots):
    open_tab(driver, board, "graphs")
    names = wait_for("nodes", lambda: read(driver, "return find('tf-graph-scene', 'g.node').map(e => e.getAttribute('data-name'))"))
    time.sleep(1)
    driver.save_screenshot(str(shots / "line_graph.png"))
    assert {"linear", "gradient_descent"} <= set(names)


def test_the_page_has_no_errors(board, driver):
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
