//! The instruction set of the CPU kernels, chosen once at run time.

use std::fmt;

/// Instruction sets that kernels are compiled for, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// One float at a time in kernels that put instances or vertices side by side; [`crate::skin::skin_columns`] and jobs
    /// run as on the baseline, and are then faster than clusters.
    Scalar,
    /// Instructions that every target has: 128-bit vectors on x86-64 and aarch64.
    Baseline,
    /// 256-bit vectors, fused multiply-add and conversions of 16-bit floats (AVX2, FMA, F16C).
    Avx2,
    /// 512-bit vectors (AVX-512F, BW, DQ and VL).
    Avx512,
}

/// Environment variable that selects a weaker instruction set.
pub const VARIABLE: &str = "SKINBENCH_ISA";
/// The vectors that this build has, from the compiler's environment: those of one instruction set, which halves the time
/// to compile this crate, or all.
const BUILT_FOR: Option<&str> = option_env!("SKINBENCH_BUILD_ISA");

impl Isa {
    /// All instruction sets, weakest first.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Baseline, Self::Avx2, Self::Avx512];

    /// Name in [`VARIABLE`], tables and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Baseline if cfg!(target_arch = "x86_64") => "sse2",
            Self::Baseline if cfg!(target_arch = "aarch64") => "neon",
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Returns whether kernels are compiled for the instruction set; scalars always are.
    pub(super) const fn is_built(self) -> bool {
        let Some(only) = BUILT_FOR else { return true };
        match self {
            Self::Scalar => true,
            Self::Baseline => !matches!(only.as_bytes(), b"avx2" | b"avx512"),
            Self::Avx2 => matches!(only.as_bytes(), b"avx2"),
            Self::Avx512 => matches!(only.as_bytes(), b"avx512"),
        }
    }

    /// Returns whether this build and this machine have the instruction set.
    pub fn is_available(self) -> bool {
        self.is_built() && self.is_supported()
    }

    fn is_supported(self) -> bool {
        match self {
            Self::Scalar | Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The instruction sets that this build and this machine have, weakest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// The strongest instruction set that is available.
    pub fn strongest() -> Self {
        Self::available().last().unwrap_or(Self::Scalar)
    }

    /// The instruction set that [`VARIABLE`] names, or the strongest.
    ///
    /// # Errors
    /// One line: an unknown name, or an instruction set that this build or this machine lacks.
    pub fn chosen() -> Result<Self, String> {
        match std::env::var_os(VARIABLE) {
            Some(name) => Self::named(&name.to_string_lossy()),
            None => Ok(Self::strongest()),
        }
    }

    /// The instruction set with this name, if it is available.
    ///
    /// # Errors
    /// One line that lists the accepted names.
    pub fn named(name: &str) -> Result<Self, String> {
        let known = Self::available()
            .map(Self::name)
            .collect::<Vec<_>>()
            .join(", ");
        match Self::ALL.into_iter().find(|isa| isa.name() == name) {
            None => Err(format!(
                "{VARIABLE}={name} is not an instruction set; this machine has {known}"
            )),
            Some(isa) if !isa.is_available() => Err(format!(
                "{VARIABLE}={name}: this build or machine lacks it; it has {known}"
            )),
            Some(isa) => Ok(isa),
        }
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::strongest()
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again_or_refused_with_what_there_is() {
        assert_eq!(Isa::named(Isa::Baseline.name()), Ok(Isa::Baseline));
        assert_eq!(Isa::named(Isa::strongest().name()), Ok(Isa::strongest()));
        let error = Isa::named("mmx").unwrap_err();
        assert!(
            error.contains("mmx") && error.contains(Isa::Baseline.name()),
            "{error}"
        );
        for isa in Isa::ALL.into_iter().filter(|isa| !isa.is_available()) {
            assert!(Isa::named(isa.name()).unwrap_err().contains("lacks"));
        }
    }
}
