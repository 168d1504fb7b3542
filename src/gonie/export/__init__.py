"""Export of trained models to bundles: an ONNX graph per part, and the proof that it equals the model."""
