"""Tools that know nothing of incidents: files, hashes, keys, the compiler of kernels."""
