"""Fixtures of this folder."""

from support.explained_fixtures import *
