package config

import "time"

// NextTime returns the next time of a valid crontab after the given one, or the zero time
// if there is none.
func NextTime(spec string, after time.Time) time.Time {
	schedule, err := crontab.Parse(spec)
	if err != nil {
		return time.Time{}
	}
	return schedule.Next(after)
}
