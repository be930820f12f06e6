"""End-to-end tests: the real program, from outside, against the scripted fake."""
