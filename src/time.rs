//! Local dates and times from the moment that comes in with an event. No clock here.

use crate::event::LocalTime;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

impl LocalTime {
    /// The local date, `YYYY-MM-DD`: the name of the daily note.
    pub fn date(self) -> String {
        let (year, month, day) = civil_from_days(self.local_ms().div_euclid(DAY_MS));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// The local time of day, `HH:MM`.
    pub fn clock(self) -> String {
        let minutes = self.local_ms().rem_euclid(DAY_MS) / MINUTE_MS;
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// The offset from UTC, `+HH:MM`.
    pub fn offset(self) -> String {
        let minutes = self.utc_offset_minutes;
        let sign = if minutes < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60)
    }

    /// Date, time and offset for people: `2026-11-18 06:53 +08:00`.
    pub fn stamp(self) -> String {
        format!("{} {} {}", self.date(), self.clock(), self.offset())
    }

    /// The same clock at another moment: when a message was said, as the user's clock showed it.
    pub fn at(self, unix_ms: i64) -> LocalTime {
        LocalTime { unix_ms, utc_offset_minutes: self.utc_offset_minutes }
    }

    fn local_ms(self) -> i64 {
        self.unix_ms.saturating_add(i64::from(self.utc_offset_minutes) * MINUTE_MS)
    }
}

/// Days since 1970-01-01 to year, month, day in the proleptic Gregorian calendar
/// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Both are in range by construction: 1..=12 and 1..=31.
    (year, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_ms: i64, utc_offset_minutes: i16) -> LocalTime {
        LocalTime { unix_ms, utc_offset_minutes }
    }

    #[test]
    fn the_date_is_the_users_and_not_utc() {
        // 2026-11-17T16:30:00Z
        let moment = 1_794_933_000_000;
        assert_eq!(at(moment, 0).stamp(), "2026-11-17 16:30 +00:00");
        assert_eq!(at(moment, 480).stamp(), "2026-11-18 00:30 +08:00");
        assert_eq!(at(moment, -480).stamp(), "2026-11-17 08:30 -08:00");
        assert_eq!(at(moment, 345).stamp(), "2026-11-17 22:15 +05:45");
    }

    #[test]
    fn leap_days_and_the_days_around_them() {
        assert_eq!(at(951_782_400_000, 0).date(), "2000-02-29");
        assert_eq!(at(951_868_800_000, 0).date(), "2000-03-01");
        assert_eq!(at(0, -1).date(), "1969-12-31");
    }

    #[test]
    fn moments_out_of_any_range_do_not_panic() {
        for extreme in [i64::MIN, i64::MAX] {
            assert!(!at(extreme, i16::MAX).stamp().is_empty());
            assert!(!at(extreme, i16::MIN).stamp().is_empty());
        }
    }
}
