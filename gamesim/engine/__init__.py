"""The compiled loop, the kernels that it calls, and how their arrays are laid out."""
