"""The shape of a bidirectional language model, as recipes and the folders of models describe it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from gonie.tasks.section import Rate, Section, Size

Count = Annotated[int, Field(ge=0)]
FilterPair = tuple[Size, Size]


class BilmConfig(Section):
    """The shape of a bidirectional language model (Peters et al. 2018)."""

    byte_width: Size = Field(default=16, description="width of the vector of a byte")
    longest: int = Field(
        default=50, ge=3, description="bytes of a word that are seen, the marks of its two ends counted"
    )
    filters: list[FilterPair] = Field(
        default=[(1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)],
        min_length=1,
        description="the convolution over bytes: kernel and number of filters of each kind",
    )
    highways: Count = Field(default=1, description="highway layers over what the filters find")
    width: Size = Field(
        default=128, description="of a word's vector and of each layer's states, in each direction"
    )
    hidden: Size = Field(default=1024, description="LSTM cells of each layer, in each direction")
    layers: Size = Field(default=2, description="LSTM layers, in each direction")
    skip: bool = Field(default=True, description="add a layer's input to its output, from the second on")
    dropout: Rate = Field(default=0.1, description="on the input of every layer, and on the last states")
    cell_clip: float = Field(
        default=0.0, ge=0, description="bound of the cells, as imported weights need; 0 for none, and fast"
    )
    state_clip: float = Field(default=0.0, ge=0, description="bound of the states, likewise")

    @model_validator(mode="after")
    def _fits(self) -> BilmConfig:
        widest = max(kernel for kernel, _ in self.filters)
        if widest > self.longest:
            raise ValueError(f"a filter over {widest} bytes is longer than a word may be ({self.longest})")
        if bool(self.cell_clip) != bool(self.state_clip):
            raise ValueError("cell_clip and state_clip go together: give both, or neither")
        if not self.cell_clip and self.width >= self.hidden:  # what torch and cuDNN compute
            raise ValueError(
                f"width: expected less than hidden ({self.hidden}), from which states are projected, "
                f"got {self.width}"
            )
        return self
