//! Integration tests of the confinement layer.
