//! Arithmetic operators of vectors in registers.

/// Implements `+`, `-`, `*` and `/` of a vector by intrinsics, in this order. The type wraps the intrinsics' own, and is
/// used only after its instruction set was detected.
macro_rules! operators {
    ($vector:ident: $add:ident, $sub:ident, $mul:ident, $div:ident) => {
        operators!($vector: Add, add, $add);
        operators!($vector: Sub, sub, $sub);
        operators!($vector: Mul, mul, $mul);
        operators!($vector: Div, div, $div);
    };
    ($vector:ident: $operator:ident, $function:ident, $intrinsic:ident) => {
        impl $operator for $vector {
            type Output = Self;
            #[inline(always)] // to take on the caller's instruction set
            fn $function(self, other: Self) -> Self {
                // SAFETY: as for the vector's operations, only functions with its target features use it.
                unsafe { Self($intrinsic(self.0, other.0)) }
            }
        }
    };
}

pub(super) use operators;
