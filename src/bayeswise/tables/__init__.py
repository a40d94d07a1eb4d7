"""Any source of rows, its schema and the stream of encoded batches."""
