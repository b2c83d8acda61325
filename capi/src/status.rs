//! Codes and texts of errors, and the checks of pointers.

use skinbench_kernels::error::DataError;
use skinbench_kernels::skin::JobError;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Version of the library: 65536 * major + 256 * minor + patch.
#[unsafe(no_mangle)]
pub extern "C" fn skinbench_version() -> u32 {
    const PARTS: [&str; 3] = [
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
        env!("CARGO_PKG_VERSION_PATCH"),
    ];
    PARTS.iter().fold(0, |version, part| {
        256 * version + part.parse::<u32>().unwrap_or(0)
    })
}

/// Result of a call. A call that fails, but for SKINBENCH_STATUS_INTERNAL, leaves outputs as they were and sets new objects to
/// null.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkinbenchStatus {
    /// The call succeeded; 0.
    Ok,
    /// A pointer is null where the call would read or write.
    NullPointer,
    /// A buffer is too short, or its stride less than what a vertex has there.
    Buffer,
    /// A number or a list is not what the function accepts.
    Invalid,
    /// The library has a fault; please report it.
    Internal,
}

/// A status and a line on what was found, where, and what would be accepted.
pub struct Fault {
    status: SkinbenchStatus,
    text: String,
}

pub fn invalid(text: impl Into<String>) -> Fault {
    Fault {
        status: SkinbenchStatus::Invalid,
        text: text.into(),
    }
}

/// A null pointer where something is needed.
pub fn null(name: &str) -> Fault {
    Fault {
        status: SkinbenchStatus::NullPointer,
        text: format!("{name}: a null pointer"),
    }
}

fn too_short(name: &str, given: usize, needed: usize) -> Fault {
    Fault {
        status: SkinbenchStatus::Buffer,
        text: format!("{name}: a length of {given} is too short; expected at least {needed}"),
    }
}

impl From<JobError> for Fault {
    fn from(error: JobError) -> Self {
        let status = match error {
            JobError::TooShort { .. } | JobError::Stride { .. } | JobError::Palette { .. } => {
                SkinbenchStatus::Buffer
            }
            JobError::Influences { .. } | JobError::NoInput { .. } | JobError::Range { .. } => {
                SkinbenchStatus::Invalid
            }
        };
        Self {
            status,
            text: error.to_string(),
        }
    }
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Self {
        invalid(error.to_string())
    }
}

thread_local! {
    static TEXT: RefCell<CString> = RefCell::default();
}

/// Returns one line about the last call of this thread that failed, for use after a failure: calls that succeed leave it as
/// it is. The text stays valid until another call fails.
#[unsafe(no_mangle)]
pub extern "C" fn skinbench_error_text() -> *const c_char {
    TEXT.with_borrow(|text| text.as_ptr())
}

#[cfg(panic = "abort")]
compile_error!(
    "a panic must not end the caller's process: cargo build --profile capi -p skinbench-capi"
);

/// Runs the body of a function; a panic ends here.
pub fn guarded(body: impl FnOnce() -> Result<(), Fault>) -> SkinbenchStatus {
    // What a panic could have left half done is memory of the caller, whose contents are then unspecified.
    let fault = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return SkinbenchStatus::Ok,
        Ok(Err(fault)) => fault,
        Err(_) => Fault {
            status: SkinbenchStatus::Internal,
            text: "a fault of the library; its message is on the standard error".into(),
        },
    };
    let text = CString::new(fault.text.replace('\0', " ")).unwrap_or_default();
    TEXT.set(text);
    fault.status
}

/// The object behind a pointer.
///
/// # Safety
/// The pointer is null or valid for `'a`.
pub unsafe fn at<'a, T>(name: &str, pointer: *const T) -> Result<&'a T, Fault> {
    checked(name, pointer)?;
    // SAFETY: the caller's; the pointer is not null and aligned.
    Ok(unsafe { &*pointer })
}

/// A list of `length` items. One without items may be null.
///
/// # Safety
/// The pointer is null or valid for as many items during `'a`.
pub unsafe fn list<'a, T>(name: &str, first: *const T, length: usize) -> Result<&'a [T], Fault> {
    if length == 0 {
        return Ok(&[]);
    }
    checked(name, first)?;
    checked_length::<T>(name, length)?;
    // SAFETY: the caller's; the pointer is not null and aligned, and the length is one that memory can have.
    Ok(unsafe { std::slice::from_raw_parts(first, length) })
}

/// As [`list`], to be written.
///
/// # Safety
/// As for [`list`], and nothing else uses the items during `'a`.
pub unsafe fn list_mut<'a, T>(
    name: &str,
    first: *mut T,
    length: usize,
) -> Result<&'a mut [T], Fault> {
    if length == 0 {
        return Ok(&mut []);
    }
    checked(name, first)?;
    checked_length::<T>(name, length)?;
    // SAFETY: as for `list`.
    Ok(unsafe { std::slice::from_raw_parts_mut(first, length) })
}

/// The first `needed` items of a list of `length`.
///
/// # Safety
/// As for [`list`].
pub unsafe fn part<'a, T>(
    name: &str,
    first: *const T,
    length: usize,
    needed: usize,
) -> Result<&'a [T], Fault> {
    reaches(name, first, length, needed)?;
    // SAFETY: the caller's.
    unsafe { list(name, first, needed) }
}

/// As [`part`], to be written.
///
/// # Safety
/// As for [`list_mut`].
pub unsafe fn part_mut<'a, T>(
    name: &str,
    first: *mut T,
    length: usize,
    needed: usize,
) -> Result<&'a mut [T], Fault> {
    reaches(name, first, length, needed)?;
    // SAFETY: the caller's.
    unsafe { list_mut(name, first, needed) }
}

/// Checks a list from which so many items are needed. Null is the first fault, whatever the length.
fn reaches<T>(name: &str, first: *const T, length: usize, needed: usize) -> Result<(), Fault> {
    if needed > 0 {
        checked(name, first)?;
    }
    if length < needed {
        return Err(too_short(name, length, needed));
    }
    Ok(())
}

fn checked<T>(name: &str, pointer: *const T) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if pointer.is_aligned() {
        Ok(())
    } else {
        Err(invalid(format!(
            "{name}: an address that is no multiple of {}",
            align_of::<T>()
        )))
    }
}

fn checked_length<T>(name: &str, length: usize) -> Result<(), Fault> {
    match length.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(()),
        _ => Err(invalid(format!(
            "{name}: a length of {length}; memory has not as much"
        ))),
    }
}

/// Gives a new object to the caller, or null and an error.
///
/// # Safety
/// `place` is null or valid.
pub unsafe fn give<T>(
    place: *mut *mut T,
    make: impl FnOnce() -> Result<T, Fault>,
) -> SkinbenchStatus {
    guarded(|| {
        checked("the place of the new object", place)?;
        // SAFETY: the caller's; the pointer is not null and aligned.
        let place = unsafe { &mut *place };
        *place = std::ptr::null_mut();
        *place = Box::into_raw(Box::new(make()?));
        Ok(())
    })
}

/// Destroys an object that [`give`] has made. Null is nothing to destroy.
///
/// # Safety
/// The pointer is null or from [`give`], and nothing uses it any more.
pub unsafe fn take<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(object) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SkinbenchClip, SkinbenchClusters, SkinbenchJob, SkinbenchSkeleton};
    use std::ffi::CStr;

    fn text() -> String {
        // SAFETY: the text of this thread stays until another call fails.
        let text = unsafe { CStr::from_ptr(skinbench_error_text()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guarded(|| panic!("on purpose")), SkinbenchStatus::Internal);
        assert!(text().starts_with("a fault of the library"));
    }

    #[test]
    fn each_thread_has_a_text_of_its_own() {
        assert_eq!(guarded(|| Err(invalid("one"))), SkinbenchStatus::Invalid);
        std::thread::spawn(|| {
            assert_eq!(text(), "");
            assert_eq!(guarded(|| Err(invalid("two\0"))), SkinbenchStatus::Invalid);
            assert_eq!(text(), "two ");
        })
        .join()
        .unwrap();
        assert_eq!(text(), "one");
    }

    #[test]
    fn threads_may_share_every_object() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<SkinbenchJob>();
        is_shared::<SkinbenchClusters>();
        is_shared::<SkinbenchSkeleton>();
        is_shared::<SkinbenchClip>();
    }
}
