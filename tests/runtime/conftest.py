"""Fixtures of this folder."""

from support.tagger_fixtures import *
