"""The window network: its gradients by hand for reading, and its compiled updates for speed."""
