"""One browser for all tests, and the folder of their pictures."""
import os
import pathlib

import pytest

from page import chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build"))


@pytest.fixture(scope="session")
def driver():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def shots():
    """Pictures of the pages, for a person to look at."""
    folder = BUILD / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder
