"""The compiled loop, compilation of the kernels that it calls, and the layout of their arrays."""
