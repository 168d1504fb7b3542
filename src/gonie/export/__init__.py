"""From a trained model to a bundle: the ONNX graph, part by part, and the proof that it equals the model."""
