//! Chance that can be replayed.
//!
//! In: a seed. Out: the same numbers each time. Never: entropy from the system.

/// SplitMix64: small, fast, and good enough to pick faults with.
#[derive(Clone, Debug)]
pub struct Prng(u64);

impl Prng {
    /// A generator whose numbers depend on the seed and on the stream alone.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut first = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Neighbouring seeds must not give neighbouring streams.
        let state = first.draw();
        Self(state ^ stream)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; zero where the bound is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether something happens that happens `of_hundred` times in a hundred.
    pub fn happens(&mut self, of_hundred: u64) -> bool {
        self.below(100) < of_hundred
    }

    /// One of these.
    ///
    /// # Panics
    /// Where there is none.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let index = usize::try_from(self.below(of.len() as u64)).unwrap_or(0);
        *of.get(index).expect("the list is not empty")
    }

    /// One of these, each as likely as its weight says.
    ///
    /// # Panics
    /// Where there is none.
    pub fn weighted<T: Copy>(&mut self, of: &[(u64, T)]) -> T {
        let total: u64 = of.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, item) in of {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *item,
            }
        }
        of.last().expect("the list is not empty").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_stream_give_the_same_numbers_and_others_do_not() {
        let numbers = |seed, stream| {
            let mut prng = Prng::new(seed, stream);
            [prng.draw(), prng.draw(), prng.draw()]
        };
        assert_eq!(numbers(7, 1), numbers(7, 1));
        assert_ne!(numbers(7, 1), numbers(8, 1));
        assert_ne!(numbers(7, 1), numbers(7, 2));
    }

    #[test]
    fn weights_are_kept_roughly() {
        let mut prng = Prng::new(1, 0);
        let hits = (0..1000)
            .filter(|_| prng.weighted(&[(9, 'a'), (1, 'b')]) == 'a')
            .count();
        assert!((850..950).contains(&hits), "{hits}");
    }
}
