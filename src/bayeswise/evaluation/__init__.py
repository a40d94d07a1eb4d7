"""What decisions cost on rows whose state is known, and how far a posterior can be trusted."""
