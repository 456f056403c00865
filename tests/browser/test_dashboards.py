"""Every page of TensorBoard on a log of ours: what a person sees is what write_dashboards.cc wrote."""
import contextlib
import io
import math
import subprocess
import time

import pytest
from PIL import Image

from conftest import BUILD
from page import TensorBoard, has_all, open_tab, read, wait_for

PROGRAM = BUILD / "tests/browser/write_dashboards"
LAST = 50  # the last step


def write(folder, kind):
    return subprocess.run([PROGRAM, folder, kind]).returncode


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    out = tmp_path_factory.mktemp("pages")
    assert write(out, "pages") == 0
    # 150 steps, SIGKILL, and on from step 101 to 200 as from a checkpoint.
    assert write(out, "killed") == -9
    assert write(out, "resumed") == 0
    return out


def has_read_all(server):
    """What is written last in each run is there."""
    helix = points(server, "mesh", "meshes", "direct/helix")
    return (helix and helix[-1]["step"] == LAST and has_all(server, "histograms", "crashed", "h", 200)
            and len(rates_of(server, "STATUS_SUCCESS", "STATUS_FAILURE")) == 3)


@pytest.fixture(scope="module")
def slow(logs):
    with TensorBoard(logs, fast=False) as server:
        wait_for("the whole runs", lambda: has_read_all(server))
        yield server


@pytest.fixture(scope="module")
def fast(logs):
    with TensorBoard(logs, fast=True) as server:
        wait_for("the whole runs", lambda: has_read_all(server))
        yield server


@pytest.fixture(params=["slow", "fast"])
def board(request):
    """Both of TensorBoard's readers, one after the other."""
    return request.getfixturevalue(request.param)


def points(board, plugin, kind, tag, run="train"):
    return board.data(f"plugin/{plugin}/{kind}", run=run, tag=tag)


def rates_of(board, *statuses):
    """The hyperparameter of the trials that ended so."""
    found = board.post("plugin/hparams/session_groups", {"allowedStatuses": statuses, "colParams": [], "startIndex": 0, "sliceSize": 10})
    return sorted(group["hparams"]["rate"] for group in found["sessionGroups"])


def show(driver, shots, board, tab, what, script):
    """Opens the tab, waits until the script gives what is awaited, and takes a picture."""
    open_tab(driver, board, tab)
    seen = wait_for(what, lambda: read(driver, script))
    time.sleep(1)  # things are moved into place
    driver.save_screenshot(str(shots / f"{tab}.png"))
    return seen


def colors_of(element):
    """How many pixels of each colour the element has on the screen; a canvas of WebGL cannot be read otherwise."""
    picture = Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB")
    return {color: count for count, color in picture.getcolors(1 << 24)}


# --- what the servers hand to the pages, by both readers


def test_every_scalar_has_all_steps_and_its_last_value(board):
    for tag, last in (("direct/inverse", 1 / (1 + LAST)), ("direct/line", 2 * LAST - 1), ("band/value", math.sin(5))):
        values = points(board, "scalars", "scalars", tag)
        assert [step for _, step, _ in values] == list(range(LAST + 1))
        assert values[-1][2] == pytest.approx(last, rel=1e-6)


def test_histograms_have_all_their_values(board):
    for _, step, buckets in points(board, "histograms", "histograms", "direct/values"):
        assert sum(count for _, _, count in buckets) == 1000
        assert buckets[0][0] == pytest.approx(step * 0.1 - 1, abs=0.01)


def test_curves_meshes_and_layouts_are_handed_on(board):
    (curve,) = board.data("plugin/pr_curves/pr_curves", run="train", tag="direct/pr").values()
    assert [entry["step"] for entry in curve] == list(range(0, LAST + 1, 10))
    assert curve[0]["recall"][0] == 1 and len(curve[0]["precision"]) == 50  # nothing reaches the last threshold
    assert set(board.data("plugin/mesh/tags")["train"]) == {"direct/pyramid", "direct/helix"}
    (category,) = board.data("plugin/custom_scalars/layout")["category"]
    assert [chart["title"] for chart in category["chart"]] == ["both", "band"]


def test_runs_can_be_found_by_how_they_ended(board):
    for status, rates in (("STATUS_SUCCESS", [0.25, 0.5]), ("STATUS_FAILURE", [0.75]), ("STATUS_RUNNING", [])):
        assert rates_of(board, status) == rates


# --- pages


def test_a_table_shows_the_last_values(fast, driver, shots):
    driver.get(f"{fast.url}/?tagFilter=direct&smoothing=0#timeseries")
    rows = wait_for("two tables", lambda: (lambda rows: rows if len(rows) == 2 else None)(read(driver, """
        return find('scalar-card', 'tb-data-table-content-row').map(r => below(r, 'tb-data-table-content-cell').map(c => c.textContent.trim()))""")))
    time.sleep(1)
    driver.save_screenshot(str(shots / "timeseries.png"))
    assert [row[1:4] for row in rows] == [["train", "0.0196", "50"], ["train", "99", "50"]]


def test_a_curve_is_drawn_through_all_points(fast, driver, shots):
    corners = show(driver, shots, fast, "scalars", "the curves", """
        const cards = find('tf-scalar-card').filter(c => c.tag == 'band/value');
        return cards.flatMap(c => below(c, 'svg path')).map(p => (p.getAttribute('d') || '').split(/[ML]/).length - 1).filter(n => n > 20)""")
    assert max(corners) >= LAST


def test_histograms_have_a_ridge_a_step(fast, driver, shots):
    ridges = show(driver, shots, fast, "histograms", "two histograms", """
        const n = find('tf-histogram-loader').filter(l => l.run == 'train').map(h => below(h, '.histogram path').filter(p => p.getAttribute('d')).length);
        return n.length == 2 && Math.min(...n) > 40 ? n : null""")
    assert max(ridges) == LAST + 1


def test_distributions_have_bands(fast, driver, shots):
    bands = show(driver, shots, fast, "distributions", "two distributions", """
        const n = find('tf-distribution-loader').filter(l => l.run == 'train').map(h => below(h, 'svg path').filter(p => (p.getAttribute('d') || '').length > 100).length);
        return n.length == 2 && Math.min(...n) > 4 ? n : null""")
    assert len(bands) == 2


def test_pictures_have_their_pixels(fast, driver, shots):
    pictures = show(driver, shots, fast, "images", "five pictures", """
        const images = find('tf-image-loader').map(l => [l.tag, l.sample, ...below(l, 'img')]);
        if (images.length < 5 || images.some(i => !(i[2] && i[2].complete && i[2].naturalWidth))) return null;
        return images.map(([tag, sample, image]) => {
          const canvas = document.createElement('canvas');
          canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
          const context = canvas.getContext('2d');
          context.drawImage(image, 0, 0);
          return [tag + ':' + sample, Array.from(context.getImageData(0, 0, image.naturalWidth, 1).data).filter((_, i) => i % 4 != 3)];
        })""")
    rows = {tag: list(zip(row[::3], row[1::3], row[2::3])) for tag, row in pictures}
    red, green = (255 - LAST, 0, 7), (0, 200, 7)
    assert rows["direct/one:0"] == [red] * 8 + [green] * 8
    assert rows["direct/batch:0"] == rows["direct/one:0"] and rows["direct/batch:1"] == [green] * 8 + [red] * 8
    assert [grey for grey, _, _ in rows["direct/ramp:0"]] in ([0, 127, 255, 255], [0, 128, 255, 255])
    assert [grey for grey, _, _ in rows["from_graph/image:0"]] == [0, 127]


def test_sounds_have_their_length(fast, driver, shots):
    sounds = show(driver, shots, fast, "audio", "two sounds", """
        const sounds = find('tf-audio-loader').map(l => [l.tag, ...below(l, 'audio').map(a => a.duration)]);
        return sounds.length == 2 && sounds.every(s => s[1] > 0) ? sounds : null""")
    assert dict(sounds) == {"direct/sound": pytest.approx(2), "tone/audio": pytest.approx(0.5)}


def test_texts_are_markdown_and_tables(fast, driver, shots):
    texts = show(driver, shots, fast, "text", "texts", """
        const texts = find('tf-text-loader', 'tf-markdown-view', '#markdown').map(e => e.innerHTML.replace(/\\n/g, '')).filter(t => t);
        return texts.length > 13 ? texts : null""")
    assert "<p>step <strong>50</strong>: <code>done</code></p>" in texts
    assert "<p>from the <em>graph</em></p>" in texts
    table = next(text for text in texts if "<table>" in text)
    assert table.count("<td>") == 4 and "<em>1</em>" in table


def test_scopes_of_the_graph_are_folded_up_and_open(fast, driver, shots):
    names = "return find('tf-graph-scene', 'g.node').map(e => e.getAttribute('data-name'))"
    folded = show(driver, shots, fast, "graphs", "nodes", names)
    assert {"dense", "error", "gradients", "GradientDescent"} <= set(folded)
    assert not any(name.startswith("dense/") for name in folded)
    opened = []
    for _ in range(6):  # a scene that is drawn anew loses the click
        read(driver, """
            const scope = find('tf-graph-scene', 'g.node').find(e => e.getAttribute('data-name') == 'dense');
            scope.querySelector(':scope > g.nodeshape rect').dispatchEvent(new MouseEvent('dblclick', {bubbles: true, composed: true}))""")
        with contextlib.suppress(TimeoutError):
            opened = wait_for("the open scope", lambda: (lambda all: all if "dense/MatMul" in all else None)(read(driver, names)), 10)
            break
    time.sleep(1)
    driver.save_screenshot(str(shots / "graphs_open.png"))
    assert {"dense/weights", "dense/bias", "dense/MatMul", "dense/add"} <= set(opened)


def test_the_precision_recall_curve_is_drawn(fast, driver, shots):
    corners = show(driver, shots, fast, "pr_curves", "the curve", """
        const n = find('tf-pr-curve-card', 'svg path').map(p => (p.getAttribute('d') || '').split(/[ML]/).length - 1);
        return Math.max(...n) > 10 ? n : null""")
    assert max(corners) == 50  # 51 thresholds


def test_hyperparameters_are_a_table(fast, driver, shots):
    cells = show(driver, shots, fast, "hparams", "the table", """
        const cells = find('tf-hparams-table-view', 'vaadin-grid-cell-content').map(e => e.textContent.trim()).filter(t => t);
        return cells.includes('2.2000') ? cells : null""")
    assert cells[:7] == ["Trial ID", "Show Metrics", "bias", "optimizer", "Learning rate", "units", "Final loss"]
    rows = sorted((cells[i + 1:i + 6] for i in range(7, len(cells), 6)), key=lambda row: row[2])
    assert rows == [["true", "adam", "0.25000", "8.0000", "0.20000"], ["true", "sgd", "0.50000", "16.000", "1.2000"],
                    ["false", "adam", "0.75000", "32.000", "2.2000"]]


def test_custom_scalars_show_lines_and_a_band(fast, driver, shots):
    lines, band = show(driver, shots, fast, "custom_scalars", "two charts", """
        const cards = find('tf-custom-scalar-multi-line-chart-card, tf-custom-scalar-margin-chart-card');
        const n = cards.map(c => below(c, 'svg path').map(p => (p.getAttribute('d') || '').split(/[MLZ]/).length - 1).filter(n => n > 30));
        return n.length == 2 && n.every(paths => paths.length) ? n : null""")
    assert len(lines) == 4 and max(lines) == LAST + 1  # two tags, smoothed and not
    assert max(band) == 2 * (LAST + 1) + 1  # there above and back below


def test_meshes_have_their_colours(fast, driver, shots):
    def are_drawn():
        seen = [colors_of(canvas) for canvas in read(driver, "return find('tf-mesh-loader', 'canvas').slice(0, 2)")]
        pyramid = max(seen, key=len)
        return (any(r > 128 and r > g + 64 and r > b + 64 for r, g, b in pyramid)  # each corner's colour
                and any(g > 128 and g > r + 64 and g > b + 64 for r, g, b in pyramid)
                and all(len(colors) > 1 for colors in seen))  # more than the background

    show(driver, shots, fast, "mesh", "two meshes", "return find('tf-mesh-loader', 'canvas').length >= 2")
    wait_for("their colours", are_drawn)
    driver.save_screenshot(str(shots / "mesh.png"))


def test_the_projector_shows_points_with_labels_and_pictures(fast, driver, shots):
    open_tab(driver, fast, "projector")
    for _ in range(2):  # the page is a frame within a frame
        driver.switch_to.frame(wait_for("the frame", lambda: read(driver, "return find('iframe')[0]")))
    try:
        wait_for("the points", lambda: "Points: 60" in read(driver, "return find('.status-bar-entry').map(e => e.textContent).join()"))
        labels = read(driver, "return find('paper-dropdown-menu#labelby', 'paper-item').map(e => e.textContent.trim())")
        canvas = read(driver, "return find('#scatter canvas')[0]")
        wait_for("the pictures", lambda: (lambda seen: all(seen.get(color, 0) > 100 for color in ((255, 40, 40), (40, 255, 40), (40, 40, 255))))(colors_of(canvas)))
    finally:
        driver.switch_to.default_content()
        driver.save_screenshot(str(shots / "projector.png"))
    assert labels == ["color", "number"]


# --- after a crash


def test_after_a_kill_and_going_on_each_step_is_there_once(board, driver, shots):
    values = points(board, "scalars", "scalars", "a", "crashed")
    assert [(step, value) for _, step, value in values] == [(step, step) for step in range(201)]
    steps = [step for _, step, _ in points(board, "histograms", "histograms", "h", "crashed")]
    assert steps == sorted(set(steps)) and steps[-1] == 200
    paths = show(driver, shots, board, "scalars", "the curve", """
        const cards = find('tf-scalar-card').filter(c => c.tag == 'a');
        const drawn = cards.flatMap(c => below(c, 'svg path')).map(p => p.getAttribute('d') || '').filter(d => d.split(/[ML]/).length > 150);
        return drawn.length ? drawn : null""")
    for path in paths:  # as it is, and smoothed
        xs = [float(point.split(",")[0]) for point in path.strip("M").split("L")]
        assert xs == sorted(xs)  # never backwards


def test_no_page_had_errors(driver):
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
