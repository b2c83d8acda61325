//! Peers: programs that skin our crowds with code of others. docs/peers.md describes the protocol and the manifests.
//!
//! A peer becomes a [`crate::registry::BackendEntry`], so the harness verifies and measures it like any backend.

mod companion;
mod manifest;
mod peer;
mod process;
mod protocol;
mod times;

pub use manifest::{Manifest, file_of, names};
pub use peer::entries;
pub use protocol::{Loaded, PeerAbilities, Request, Times, Written};
