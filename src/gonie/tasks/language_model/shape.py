"""The shape of a bidirectional language model, in recipes and in the folders of models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gonie.tasks.section import Rate, Section, Size

Count = Annotated[int, Field(ge=0)]
FilterPair = tuple[Size, Size]


class BilmConfig(Section):
    """The shape of a bidirectional language model (Peters et al. 2018)."""

    byte_width: Size = Field(default=16, description="width of byte vectors")
    longest: int = Field(
        default=50, ge=3, description="maximum bytes of a word, including the marks of its two ends"
    )
    filters: list[FilterPair] = Field(
        default=[(1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)],
        min_length=1,
        description="convolution over bytes: pairs of kernel size and number of filters",
    )
    highways: Count = Field(default=1, description="number of highway layers after the convolution")
    width: Size = Field(
        default=128, description="width of word vectors and of each layer's states, in each direction"
    )
    hidden: Size = Field(default=1024, description="LSTM cells of each layer, in each direction")
    layers: Size = Field(default=2, description="number of LSTM layers in each direction")
    skip: bool = Field(default=True, description="skip connections around layers, from the second on")
    dropout: Rate = Field(default=0.1, description="dropout on the input of each layer and the last states")
    cell_clip: float = Field(
        default=0.0,
        ge=0,
        description="clipping bound of cells, for imported weights; 0: none, which is faster",
    )
    state_clip: float = Field(
        default=0.0, ge=0, description="clipping bound of states, set together with cell_clip"
    )

    @model_validator(mode="after")
    def _fits(self) -> BilmConfig:
        widest = max(kernel for kernel, _ in self.filters)
        if widest > self.longest:
            raise ValueError(f"filters: kernel size {widest} is larger than longest ({self.longest})")
        if bool(self.cell_clip) != bool(self.state_clip):
            raise ValueError("cell_clip and state_clip must be set together; set both, or neither")
        if not self.cell_clip and self.width >= self.hidden:  # a restriction of torch and cuDNN
            raise ValueError(f"width must be less than hidden ({self.hidden}): {self.width}")
        return self
