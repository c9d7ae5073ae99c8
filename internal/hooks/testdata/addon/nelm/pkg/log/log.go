// Package log has a logger.
package log

// Level is how much is said.
type Level string

const (
	TraceLevel   Level = "trace"
	DebugLevel   Level = "debug"
	InfoLevel    Level = "info"
	WarningLevel Level = "warning"
	ErrorLevel   Level = "error"
)

// BlockOptions are those of a block of lines.
type BlockOptions struct{ BlockTitle string }

// Logger is any.
type Logger any

// Default is where all is said.
var Default Logger
