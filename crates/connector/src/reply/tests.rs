//! The splitter against an oracle of its own, case by case and under random text.

mod oracle;

mod fences;
mod lengths;
mod places;
mod random;
