//! The same record or enum on both sides of the contract: one line for each instead of a function.
//!
//! The component maps the generated types of its imports and exports to the plain types of this crate, a wasmtime
//! host maps them back. Fields and cases have the same names on both sides; a missing one does not compile.

/// `From` between two records with the same fields. Behind `lists` and `options` stand the fields whose elements are
/// mapped too.
#[macro_export]
macro_rules! map_record {
    ($from:ty => $to:path {
        $($plain:ident),* $(,)?
        $(; lists $($list:ident),+)?
        $(; options $($option:ident),+)?
    }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                $to {
                    $($plain: value.$plain.into(),)*
                    $($($list: value.$list.into_iter().map(Into::into).collect(),)+)?
                    $($($option: value.$option.map(Into::into),)+)?
                }
            }
        }
    };
}

/// `From` between two enums with the same cases, none of which carries anything.
#[macro_export]
macro_rules! map_cases {
    ($from:ty => $to:ty { $($case:ident),+ $(,)? }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value {
                    $(<$from>::$case => <$to>::$case,)+
                }
            }
        }
    };
}

/// `From` between two variants with the same cases, each of which carries one value.
#[macro_export]
macro_rules! map_variants {
    ($from:ty => $to:ty { $($case:ident),+ $(,)? }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                type Given = $from;
                match value {
                    $(Given::$case(inner) => <$to>::$case(inner),)+
                }
            }
        }
    };
}
