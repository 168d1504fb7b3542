"""Fixtures of this folder."""

from support.graph_fixtures import *
