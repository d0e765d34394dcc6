"""A small dense laboratory: what decides the quality of reused chunk KV, measured without vLLM."""
