//! Empty: only the sources of the dependency are used, by the Makefile.
