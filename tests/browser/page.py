"""TensorBoard as a process and Chromium as a person: starting both, waiting, and reading the page through its shadow roots."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

# find(sel, sel, ...): elements below one another, whatever shadow trees lie between them.
_FIND = """
const below = (root, sel) => {
  const trees = [root, ...(root.shadowRoot ? [root.shadowRoot] : [])];
  let out = [];
  for (const tree of trees) {
    out.push(...tree.querySelectorAll(sel));
    for (const e of tree.querySelectorAll('*')) if (e.shadowRoot) out.push(...below(e.shadowRoot, sel));
  }
  return [...new Set(out)];
};
const find = (...sels) => sels.reduce((roots, sel) => [...new Set(roots.flatMap(r => below(r, sel)))], [document]);
"""


def wait_for(what, get, seconds=60):
    """The first true value of get(); what it waited for is in the error."""
    last, end = None, time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            last = get()
            if last:
                return last
        except Exception as error:  # the page is still being built
            last = error
        time.sleep(0.2)
    raise TimeoutError(f"{what}: not within {seconds} s; last was {last!r}")


class TensorBoard:
    """A server on 127.0.0.1, ended by its pid."""

    def __init__(self, logdir, fast):
        self.command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0",
                        "--reload_interval", "1", "--load_fast", "true" if fast else "false"]

    def __enter__(self):
        self.output = tempfile.TemporaryFile("w+")
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
        self.process = subprocess.Popen(self.command, stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
        self.url = wait_for("TensorBoard's address", self._address, 120)
        return self

    def _address(self):
        self.output.seek(0)
        found = re.search(r"TensorBoard \S+ at (http://\S+?)/? ", self.output.read())
        return found and found.group(1)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def data(self, path, **query):
        with _open(f"{self.url}/data/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
            return json.loads(answer.read())

    def post(self, path, question):
        request = urllib.request.Request(f"{self.url}/data/{path}", json.dumps(question).encode(), {"Content-Type": "application/json"})
        with _open(request, timeout=30) as answer:
            return json.loads(answer.read())


def has_all(server, plugin, run, tag, last):
    """Has it read the point of the last step? It reads while it answers."""
    points = server.data(f"plugin/{plugin}/{plugin}", run=run, tag=tag)
    return bool(points) and points[-1][1] == last


@contextlib.contextmanager
def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000", "--no-first-run",
                     f"--user-data-dir={profile}", "--no-proxy-server", "--disable-background-networking", "--disable-component-update"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        driver.set_page_load_timeout(90)
        driver.set_script_timeout(60)
        try:
            yield driver
        finally:
            driver.quit()


def read(driver, script):
    return driver.execute_script(_FIND + script)


def open_tab(driver, board, tab):
    """Another query string makes it a real page load."""
    driver.get(f"{board.url}/?tab={tab}#{tab}")
