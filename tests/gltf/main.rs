//! The glTF importer.
mod compact;
mod goldens;
mod refusals;
mod traits;

#[path = "../support"]
mod support {
    pub mod gltf_fixture;
    pub mod golden;
    pub mod reference;
    pub mod shared;
}
