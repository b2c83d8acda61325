//! Bandwidths of a device, as it measures them itself.

/// Bandwidths of a device's memory and caches over a number of bytes, in bytes per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceBandwidth {
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Bytes written.
    pub write: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes read and bytes written by copying, together.
    pub copy: u64,
}

/// Bandwidths from the host to a device, in bytes per second: what a frame does to upload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UploadBandwidth {
    /// Bytes that were moved.
    pub bytes: u64,
    /// Number of threads of [`UploadBandwidth::write_by_all`].
    pub threads: usize,
    /// Bytes that one thread writes to staging memory.
    pub write_by_one: u64,
    /// Bytes that all threads together write there.
    pub write_by_all: u64,
    /// Bytes that the device copies from there.
    pub copy: u64,
}
