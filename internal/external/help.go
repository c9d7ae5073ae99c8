package external

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/plugin"
)

// bound are the flags that kubebuilder does not accept from plugins.
var bound = []string{"group", "version", "kind", "help"}

// Flags asks the program for the flags that it adds to the command of an event. If the program reports an
// error, as one without flags does, it gets all unknown flags of the command line, as in kubebuilder. A command
// that kubebuilder does not have gets no flags.
func (p *Plugin) Flags(ctx context.Context, event plugin.EventType, unknown func(string) bool) ([]Flag, error) {
	command, known := commands[event]
	if !known {
		return nil, nil
	}
	answer, err := p.request(ctx, request{Command: "flags", Args: []string{command.flag}})
	if _, failed := errors.AsType[responseError](err); failed {
		return guessFlags(p.Args, unknown), nil
	}
	return slices.DeleteFunc(answer.Flags, func(f Flag) bool { return f.Name == "" || slices.Contains(bound, f.Name) }), err
}

// guessFlags returns flags for the unknown arguments. One that is followed by another flag, or by nothing,
// is a switch.
func guessFlags(args []string, unknown func(string) bool) []Flag {
	var flags []Flag
	for i, arg := range args {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") || !unknown(name) {
			continue
		}
		f := Flag{Name: name, Type: "string", Usage: "flag that the plugin may have"}
		if hasValue && (value == "true" || value == "false") || !hasValue && (i+1 == len(args) || strings.HasPrefix(args[i+1], "--")) {
			f.Type = "bool"
		}
		flags = append(flags, f)
	}
	return flags
}

// Help asks the program what it adds to the help of the command of an event.
func (p *Plugin) Help(ctx context.Context, event plugin.EventType) (Metadata, error) {
	command, known := commands[event]
	if !known {
		return Metadata{}, nil
	}
	answer, err := p.request(ctx, request{Command: "metadata", Args: []string{command.flag}})
	if _, failed := errors.AsType[responseError](err); failed {
		return Metadata{}, nil
	}
	return answer.Metadata, err
}
