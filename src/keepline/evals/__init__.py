"""Measures keepline on files: does a rule stay in the prompt, is what answers a question found, does a known fault come back, how
fast. A user runs it on conversations of their own; the tests run it too.

Knows the engine's verbs and the files' formats, not how a context is built or a message ranked.
"""
