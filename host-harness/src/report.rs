//! An audit for people ([`terminal`]) and for programs ([`json`]).

pub mod json;
pub mod terminal;
