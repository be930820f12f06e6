//! The machine's own tests: seeds hold, missing safeguards show, a seed replays.

mod smoke;
