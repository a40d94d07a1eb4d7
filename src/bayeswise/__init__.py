"""bayeswise."""
