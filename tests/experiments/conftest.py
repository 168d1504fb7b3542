"""Provides the fixtures of this folder."""

from support.network_fixtures import *
