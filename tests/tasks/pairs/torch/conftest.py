"""Fixtures of this folder."""

from support.graph_fixtures import *
from support.network_fixtures import *
