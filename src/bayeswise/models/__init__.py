"""Fitted models: frozen values made of a schema, settings and exact statistics, independent of scikit-learn."""
