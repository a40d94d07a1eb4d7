"""Any table: a source, its schema (decided once, frozen, explainable) and the stream of batches it becomes."""
