"""Where unrolls wait to be learnt from."""
