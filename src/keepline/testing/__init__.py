"""For tests of keepline and of code that uses it: stand-ins without I/O (`fakes`), the contract of stores (`conformance`)."""
