"""The built sites that several tests look at."""

from importlib.util import find_spec

import pytest

from tests.docs import builds, page_runner


def pytest_collection_finish() -> None:
    """Before the first test runs, look at triton.language as it is without any kernel having run."""
    if find_spec("torch"):
        page_runner.language()


@pytest.fixture(scope="session")
def site() -> builds.Build:
    """The site as `make site` builds it."""
    return builds.mkdocs_site()


@pytest.fixture(scope="session")
def site_with_repository() -> builds.Build:
    return builds.site_with_repository()


@pytest.fixture(scope="session")
def zensical_site() -> builds.Build:
    return builds.zensical_site()
