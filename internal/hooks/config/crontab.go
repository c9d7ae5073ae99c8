package config

import "time"

// NextTime returns the first time after a given one that matches a crontab. It returns the
// zero time if there is none, or if the crontab is invalid.
func NextTime(spec string, after time.Time) time.Time {
	schedule, err := crontab.Parse(spec)
	if err != nil {
		return time.Time{}
	}
	return schedule.Next(after)
}
