"""What the training programs share: options, files, networks and the loss."""
