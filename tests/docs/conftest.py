"""The built sites that several tests look at."""

import pytest

from tests.docs import builds


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
