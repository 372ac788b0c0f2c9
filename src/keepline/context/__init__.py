"""One call's view: what goes into the window, and why. Pure logic; needs are yielded."""
