// Package log has the logger of nelm that addon-operator sets.
package log

// Level is a log level.
type Level string

const (
	TraceLevel   Level = "trace"
	DebugLevel   Level = "debug"
	InfoLevel    Level = "info"
	WarningLevel Level = "warning"
	ErrorLevel   Level = "error"
)

// BlockOptions are the options of a block of log lines.
type BlockOptions struct{ BlockTitle string }

// Logger is a logger.
type Logger any

// Default is the default logger.
var Default Logger
