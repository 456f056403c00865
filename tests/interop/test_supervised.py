"""The example `supervised`: its four ways, what TensorBoard sees of them, and that a run in parts is the whole run."""
import re
import subprocess

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from oracle import BUILD, tf

LAST = re.compile(r"step (\d+) loss (\S+) weight (\S+) bias (\S+)$")


def run(out, *flags, status=0):
    command = [BUILD / "train/examples/supervised", "--out", out, *map(str, flags)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout.splitlines() if status == 0 else done.stderr


def curves(out):
    events = EventAccumulator(str(out), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [point.step for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


@pytest.mark.parametrize("scenario", ["simple", "large-model", "pre-trained", "own-service"])
def test_every_scenario_finds_the_line_and_saves_its_last_step(tmp_path, scenario):
    step, loss, weight, bias = LAST.match(run(tmp_path, "--scenario", scenario, "--steps", 2000)[-1]).groups()
    assert (step, round(float(weight), 3), round(float(bias), 3)) == ("2000", 0.1, 0.3)
    newest = tf.train.latest_checkpoint(str(tmp_path))
    assert newest.endswith("model.ckpt-2000")
    assert tf.train.load_variable(newest, "bias") == pytest.approx(float(bias), abs=0)


def test_a_run_in_parts_ends_with_the_numbers_of_the_whole_run(tmp_path):
    whole = run(tmp_path / "whole", "--steps", 900)[-1]
    for steps in (300, 301, 900):
        parts = run(tmp_path / "parts", "--steps", steps, "--save-model-secs", 0.01)[-1]
    assert parts == whole
    assert run(tmp_path / "parts", "--steps", 900)[-1] == whole  # nothing is left to do


def test_a_large_models_summaries_come_from_its_loop(tmp_path):
    run(tmp_path, "--scenario", "large-model", "--steps", 450)
    assert curves(tmp_path)["line/loss"] == [1, 101, 201, 301, 401]


def test_services_write_at_fractions_of_a_second(tmp_path):
    command = [BUILD / "train/examples/supervised", "--out", tmp_path, "--scenario", "own-service", "--steps", "1000000000",
               "--save-summaries-secs", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
        written = []
        for line in program.stderr:
            written += [word for word in ("Recording summary at step", "global_step/sec: ") if word in line]
            if written.count("Recording summary at step") > 3 and "global_step/sec: " in written:
                break
        program.terminate()
        program.communicate()
    assert program.returncode == 143
    seen = curves(tmp_path)
    assert {"line/loss", "line/weight", "line/bias", "global_step/sec"} <= set(seen)
    assert len(seen["line/loss"]) > 2


def test_a_pre_trained_weight_is_taken_by_the_first_start_alone(tmp_path):
    first = LAST.match(run(tmp_path, "--scenario", "pre-trained", "--steps", 1)[-1])
    assert float(first[3]) == pytest.approx(0.25, abs=0.011)
    second = LAST.match(run(tmp_path, "--scenario", "pre-trained", "--steps", 200)[-1])
    assert run(tmp_path / "straight", "--scenario", "pre-trained", "--steps", 200)[-1] == second[0]


def test_flags_that_mean_nothing_are_refused(tmp_path):
    assert "--scenario" in run(tmp_path, "--scenario", "none", status=2)
    assert "--save-model-secs" in run(tmp_path, "--save-model-secs", -1, status=2)
    (tmp_path / "file").write_text("")
    assert "supervised: " in run(tmp_path / "file/run", status=1)
