"""Compares the character LSTM with torch's LSTM on single forms without padding."""

from __future__ import annotations

import torch

from gonie.nn import CharLSTM


def test_vectors_are_the_final_states_of_each_form_without_padding() -> None:
    part = CharLSTM(size=9, width=4, hidden=3, dropout=0.0)
    forms = [[3], [2, 5], [8, 1, 1, 4, 7, 2]]
    chars = torch.tensor([form + [7] * (6 - len(form)) for form in forms])  # junk past the end
    got = part.spell(chars, torch.tensor([len(form) for form in forms]))
    for row, form in enumerate(forms):
        vectors = part.characters(torch.tensor([form]))
        ahead = part.encoder.ahead.lstm(vectors)[0][0, -1]
        back = part.encoder.back.lstm(vectors.flip(1))[0][0, -1]
        torch.testing.assert_close(got[row], torch.cat([ahead, back]))
    assert part.width == got.shape[1]
