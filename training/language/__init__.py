"""What the programs about language models share: loading, and playing incidents with them."""
