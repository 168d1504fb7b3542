"""The layers of a network from the bottom to the top: freezing, gradual unfreezing and learning rates.

A network returns its layers by name (``layers``): the embedding, the layers of its encoder, and so on up to
the head.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from torch import nn

from gonie.errors import InputError, RecipeError
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.encoders.deep import Deep
from gonie.nn.protocols import AdaptsPart, Encoder, WrapsPart
from gonie.tasks.sections import CorpusRecipe, TrainConfig
from gonie.text.report import count

HEAD = "head"


def encoder_layers(encoder: Any, name: str = "encoder") -> dict[str, nn.Module]:
    """Return the layers of an encoder: ``encoder``, or ``encoder.1``, ``encoder.2`` if it has several."""
    part = encoder
    while not isinstance(part, Deep) and isinstance(inner := _inner(part), nn.Module):
        part = inner  # within a bypass or adapters
    if not isinstance(part, Deep):
        return {name: encoder}
    return {f"{name}.{number}": layer for number, layer in enumerate(part.layers, start=1)}


def lower_encoder(encoder: Encoder, layers: int | None) -> Encoder:
    """Return the encoder up to a layer, counted from 1, which shares its parts; None: up to the top."""
    depth = len(encoder_layers(encoder))
    if layers is None or layers == depth:
        return encoder
    if layers > depth:
        raise InputError(f"no layer {layers}: the encoder has {count(depth, 'layer')}")
    if isinstance(encoder, Bypass):
        return Bypass(encoder=lower_encoder(encoder.encoder, layers), passed=encoder.passed)
    if not isinstance(encoder, Deep):
        raise InputError("adapters are at the top of the encoder", fix="Use its top layer")
    lower = [cast("Encoder", layer) for layer in encoder.layers[:layers]]
    return lower[0] if layers == 1 else Deep(layers=lower, dropout=encoder.dropout)


def _inner(part: Any) -> Any:
    """Return the encoder within an encoder, None if it has none."""
    if isinstance(part, Bypass):
        return part.encoder
    return part.get_submodule(part.wraps) if isinstance(part, WrapsPart) else None


def freeze_layers(model: Any, config: TrainConfig) -> None:
    """Turn off the training of the layers in ``train.freeze``, and of all but the head if there are adapters.

    Adapters are always trained. ``encoder`` stands for all layers of the encoder.
    """
    layers: Mapping[str, nn.Module] = model.layers()
    adapters = adapters_of(model)
    names = [*config.freeze, *(name for name in layers if adapters and name != HEAD)]
    for name in names:
        chosen = [layer for own, layer in layers.items() if own == name or own.startswith(f"{name}.")]
        if not chosen:
            near = difflib.get_close_matches(name, layers, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise RecipeError([f"train.freeze: no layer {name!r}{meant}; use {', '.join(layers)}"])
        for layer in chosen:
            layer.requires_grad_(requires_grad=False)
    for adapter in adapters.values():
        adapter.requires_grad_(requires_grad=True)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise RecipeError(["train.freeze: all layers are frozen; leave at least one out"])


def adapters_of(model: nn.Module) -> dict[str, nn.Module]:
    """Return the adapters of a model, by their names."""
    parts: Iterable[tuple[str, nn.Module]] = model.named_modules()
    return {name: part for name, part in parts if isinstance(part, AdaptsPart)}


def layer_notes(model: Any, recipe: CorpusRecipe) -> Iterator[str]:
    """Yield a note on how much of a model is trained, and one on layers that are not unfrozen in time."""
    config, (trained, total) = recipe.train, count_weights(model)
    share = f"{trained / total:.1%}"
    if recipe.model.adapter is not None:
        yield f"adapters: {trained:,} of {total:,} parameters are trained, {share}"
    elif config.freeze:
        yield f"train.freeze: {trained:,} of {total:,} parameters are trained, {share}"
    layers = list(trained_layers(model))
    waits = {name: depth * config.unfreeze for depth, name in enumerate(reversed(layers))}  # in epochs
    if late := [name for name in layers if waits[name] >= config.epochs]:
        yield (
            f"train.unfreeze: training ends before these layers are trained: {', '.join(late)}; set "
            f"train.epochs to more than {max(waits.values()):g}, or lower train.unfreeze"
        )


def count_weights(model: nn.Module) -> tuple[int, int]:
    """Return the number of trained parameters, and that of all, which include fixed vectors."""
    shared = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    fixed = {name: tensor for name, tensor in model.state_dict().items() if name not in shared}
    weights = [*model.parameters(), *(tensor for tensor in fixed.values() if tensor.is_floating_point())]
    return sum(weight.numel() for weight in weights if weight.requires_grad), sum(w.numel() for w in weights)


def trained_layers(model: Any) -> dict[str, nn.Module]:
    """Return the layers with trained weights, which may be those of adapters."""
    layers: Mapping[str, nn.Module] = model.layers()
    return {name: layer for name, layer in layers.items() if any(w.requires_grad for w in layer.parameters())}


def resting_layers(model: Any, config: TrainConfig) -> Callable[[float], Iterable[nn.Module]]:
    """Return the function that returns the layers that are not trained yet after some epochs.

    Layers without trained weights, such as frozen ones, do not count, so one layer is always trained.
    """
    layers = list(trained_layers(model).values())

    def resting(epochs_done: float) -> Iterable[nn.Module]:
        if not config.unfreeze:
            return ()
        open_layers = 1 + int(epochs_done / config.unfreeze)
        return layers[: max(0, len(layers) - open_layers)]

    return resting


def layer_rates(model: Any, config: TrainConfig) -> dict[str, float]:
    """Return multiples of the learning rate by the prefix of parameter names, the longest prefixes first.

    They are the products of ``train.layer_rate`` for each layer and of ``part_rates``.
    """
    own = part_rates(model)
    if config.layer_rate == 1.0:
        return own
    names = {id(part): name for name, part in model.named_modules()}
    layers = [names[id(layer)] for layer in model.layers().values()]
    depths = {f"{name}.": config.layer_rate**depth for depth, name in enumerate(reversed(layers))}
    rates = {
        prefix: scale * next((rate for layer, rate in depths.items() if prefix.startswith(layer)), 1.0)
        for prefix, scale in own.items()
    }
    return dict(sorted({**depths, **rates}.items(), key=lambda item: -len(item[0])))


def part_rates(model: nn.Module) -> dict[str, float]:
    """Return the learning-rate multiples of parts (``rate_scale``) by the prefix of parameter names.

    The longest prefixes come first, so that a part within a part has its own multiple.
    """
    scales = {name: getattr(part, "rate_scale", None) for name, part in model.named_modules()}
    own = {f"{name}.": float(scale) for name, scale in scales.items() if scale is not None}
    return dict(sorted(own.items(), key=lambda item: -len(item[0])))
