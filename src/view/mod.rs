//! `skinbench view`: a window on the crowd.
//!
//! Frames are computed and drawn on a thread and a device of their own, by the same backends and the same presenter as
//! in a run. The window gets finished pictures, so that nothing of the interface is part of a frame, and a device that
//! is lost takes no window with it.
//!
//! | module | holds |
//! | --- | --- |
//! | `player`, `orbit`, `document`, `state` | what controls change: moment, camera, scene, all together |
//! | `bind_pose`, `heat` | what is shown besides skinned crowds |
//! | `side`, `engine`, `worker` | one backend, both of them, and the thread that they run on |
//! | `panels`, `dialog`, `window` | the interface |

pub mod bind_pose;
mod dialog;
pub mod document;
pub mod engine;
pub mod heat;
pub mod orbit;
pub mod panels;
pub mod player;
pub mod side;
pub mod state;
pub mod window;
pub mod worker;
