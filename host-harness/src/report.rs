//! An audit for people ([`terminal`], [`html`]) and for programs ([`json`]).

pub mod html;
pub mod json;
pub mod terminal;
