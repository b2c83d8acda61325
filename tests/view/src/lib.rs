//! Tests of the window's panels, and nothing else.

#[cfg(test)]
mod panels;
