package config

import "time"

// NextTime is when the time of a crontab comes, after a moment; it is zero when it
// never does. The crontab is one that Parse takes.
func NextTime(spec string, after time.Time) time.Time {
	schedule, err := crontab.Parse(spec)
	if err != nil {
		return time.Time{}
	}
	return schedule.Next(after)
}
