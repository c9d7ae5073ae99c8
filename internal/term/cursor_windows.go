package term

import "time"

// reportsCursor reports whether the terminal says where its cursor is: the console of Windows always does.
func (t tty) reportsCursor(time.Duration) bool { return true }
