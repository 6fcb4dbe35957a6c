"""What knows nothing of incidents: files, hashes, keys, the compiler of kernels."""
