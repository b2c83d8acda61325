//! SHA-256 digests, as 64 hexadecimal digits.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::path::Path;

/// The digest of some bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The digest of a file.
///
/// # Errors
/// The file cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(format!("{:x}", hasher.finalize()))
}

/// The digest of the names and texts of all shaders of this build; `None` without GPU backends.
pub fn of_shaders() -> Option<String> {
    #[cfg(feature = "gpu")]
    {
        let mut hasher = Sha256::new();
        for (name, text) in crate::gpu::shader::wgsl::FILES {
            for field in [name, text] {
                hasher.update((field.len() as u64).to_le_bytes());
                hasher.update(field);
            }
        }
        Some(format!("{:x}", hasher.finalize()))
    }
    #[cfg(not(feature = "gpu"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-4, example of one block.
        assert_eq!(
            of_bytes(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(of_file(file.path()).unwrap(), of_bytes(b"abc"));
    }
}
