"""The character LSTM against one form at a time, unpadded."""

from __future__ import annotations

import torch

from gonie.nn import CharLSTM


def test_it_is_the_last_state_of_each_direction_at_the_form_s_true_end() -> None:
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
