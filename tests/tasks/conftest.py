"""Fixtures of this folder."""

from support.explained_fixtures import *
from support.tagger_fixtures import *
