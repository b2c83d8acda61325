//! Objects of a device.

use serde::{Serialize, Serializer};

/// An object of a device: one of wgpu's, or a number in its place where nothing is executed. A clone is the same object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceObject<T> {
    real: Option<T>,
    /// The object's number; 0 for one of wgpu.
    pub id: usize,
}

impl<T> DeviceObject<T> {
    /// An object of wgpu.
    pub fn real(real: T) -> Self {
        Self {
            real: Some(real),
            id: 0,
        }
    }

    /// An object by its number.
    pub fn numbered(id: usize) -> Self {
        Self { real: None, id }
    }

    /// The object of wgpu.
    ///
    /// # Panics
    /// It has only a number, because its device executes nothing.
    pub fn get(&self) -> &T {
        match &self.real {
            Some(real) => real,
            None => panic!(
                "object {} is asked of a device that executes nothing",
                self.id
            ),
        }
    }
}

/// Serialised, an object is its number.
impl<T> Serialize for DeviceObject<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(out)
    }
}

/// A buffer of a device. Serialised, it is its number.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wgpu", serde(transparent))]
pub struct DeviceBuffer {
    /// The buffer.
    #[cfg(feature = "wgpu")]
    pub object: DeviceObject<wgpu::Buffer>,
    /// Bytes.
    #[cfg_attr(feature = "wgpu", serde(skip))]
    pub size: u64,
}

#[cfg(feature = "wgpu")]
impl From<wgpu::Buffer> for DeviceBuffer {
    fn from(buffer: wgpu::Buffer) -> Self {
        Self {
            size: buffer.size(),
            object: DeviceObject::real(buffer),
        }
    }
}
