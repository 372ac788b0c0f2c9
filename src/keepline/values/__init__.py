"""The nouns: frozen values that travel between rooms. They import nothing but errors."""
