//! Figures as a person reads them: medians, ratios, aims.
//!
//! In: samples. Out: a table. Never: a verdict from an absolute time alone where a floor was
//! measured.

use crate::floors::Floors;
use std::{fmt, time::Duration};

/// Repeated measurements of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<Duration>);

impl Sample {
    /// One more.
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// The value that `part` in a hundred stay under. Zero without any measurement.
    pub(crate) fn percentile(&self, part: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * part / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or_default()
    }

    /// Medians of the first and of the last quarter: what grows with age shows here.
    pub(crate) fn ends(&self) -> (Duration, Duration) {
        let quarter = self.0.len() / 4;
        let median = |part: &[Duration]| Self(part.to_vec()).median();
        (
            median(&self.0[..quarter]),
            median(&self.0[self.0.len() - quarter..]),
        )
    }

    /// The middle one.
    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }
}

/// One line of the table.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: &'static str,
    /// The figure with its unit.
    pub(crate) figure: String,
    /// What it is compared with, and that figure.
    pub(crate) beside: String,
    /// Figure over floor, or the figure in the aim's unit.
    pub(crate) ratio: f64,
    /// What is aimed at.
    pub(crate) aim: Aim,
}

/// What is aimed at.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// A floor itself.
    None,
}

impl Aim {
    fn met(self, ratio: f64) -> &'static str {
        match self {
            Self::AtMost(most) if ratio <= most => "met",
            Self::AtLeast(least) if ratio >= least => "met",
            Self::AtMost(_) | Self::AtLeast(_) => "missed",
            Self::None => "",
        }
    }
}

/// The table.
#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    /// The floors alone.
    pub(crate) fn of_floors(floors: &Floors) -> Self {
        let row = |what, figure: String| Row {
            what,
            figure,
            beside: "floor".to_owned(),
            ratio: 1.0,
            aim: Aim::None,
        };
        Self(vec![
            row(
                "synced append, room allocated",
                shown(floors.append.median()),
            ),
            row(
                "synced append, file grows",
                shown(floors.append_growing.median()),
            ),
            row("loopback POST", shown(floors.post.median())),
            row("bare parse of frames", format!("{:.0}/s", floors.parse)),
        ])
    }

    /// Adds a time beside its floor.
    pub(crate) fn time(
        &mut self,
        what: &'static str,
        took: &Sample,
        floor: (&str, Duration),
        most: f64,
    ) {
        let figure = format!(
            "{} (p95 {})",
            shown(took.median()),
            shown(took.percentile(95))
        );
        let ratio = took.median().as_secs_f64() / floor.1.as_secs_f64().max(f64::MIN_POSITIVE);
        let beside = format!("{} {}", floor.0, shown(floor.1));
        self.0.push(Row {
            what,
            figure,
            beside,
            ratio,
            aim: Aim::AtMost(most),
        });
    }

    /// Adds any other row.
    pub(crate) fn row(&mut self, row: Row) {
        self.0.push(row);
    }
}

/// A time in the unit that fits it.
pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 {
        format!("{micros:.0} us")
    } else {
        format!("{:.2} ms", micros / 1e3)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<32} {:>26} {:>34} {:>8} {:>8}",
            "what", "measured", "beside", "ratio", "aim"
        )?;
        for row in &self.0 {
            let aim = match row.aim {
                Aim::AtMost(most) => format!("<= {most}"),
                Aim::AtLeast(least) => format!(">= {least}"),
                Aim::None => String::new(),
            };
            writeln!(
                f,
                "{:<32} {:>26} {:>34} {:>8.2} {aim:>8} {}",
                row.what,
                row.figure,
                row.beside,
                row.ratio,
                row.aim.met(row.ratio)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Aim, Sample};
    use std::time::Duration;

    #[test]
    fn percentiles_are_taken_from_the_sorted_sample() {
        let mut sample = Sample::default();
        assert_eq!(sample.median(), Duration::ZERO);
        for millis in (1..=100).rev() {
            sample.add(Duration::from_millis(millis));
        }
        assert_eq!(sample.median(), Duration::from_millis(51));
        assert_eq!(sample.percentile(95), Duration::from_millis(96));
        assert_eq!(sample.percentile(100), Duration::from_millis(100));
    }

    #[test]
    fn what_grows_with_age_shows_at_the_ends() {
        let mut sample = Sample::default();
        for micros in 1..=8 {
            sample.add(Duration::from_micros(micros));
        }
        assert_eq!(
            sample.ends(),
            (Duration::from_micros(2), Duration::from_micros(8))
        );
    }

    #[test]
    fn an_aim_is_met_on_its_own_side() {
        let cases = [
            (Aim::AtMost(1.5), 1.5, "met"),
            (Aim::AtMost(1.5), 1.6, "missed"),
            (Aim::AtLeast(0.5), 0.5, "met"),
            (Aim::AtLeast(0.5), 0.4, "missed"),
            (Aim::None, 9.0, ""),
        ];
        for (aim, ratio, want) in cases {
            assert_eq!(aim.met(ratio), want, "{ratio}");
        }
    }
}
