//! `skinbench view`: a window on the crowd.
//!
//! Frames are computed and drawn on a separate thread and device, by the same backends and the same presenter as in a
//! run. The window receives finished pictures: drawing the interface is never part of a frame, and the window survives
//! the loss of the device.
//!
//! | module | holds |
//! | --- | --- |
//! | `player`, `orbit`, `open_scene`, `state` | the state that controls change: time, camera, scene, all together |
//! | `bind_pose`, `heat` | overlays and alternatives to skinned crowds |
//! | `side`, `engine`, `worker` | one backend, both of them, and the thread that they run on |
//! | `panels`, `dialog`, `window` | the interface |

pub mod bind_pose;
mod dialog;
pub mod engine;
pub mod heat;
pub mod open_scene;
pub mod orbit;
pub mod panels;
pub mod player;
pub mod side;
pub mod state;
pub mod window;
pub mod worker;
