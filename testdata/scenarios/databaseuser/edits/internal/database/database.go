// Package database manages users of a database.
package database

import (
	"context"
	"errors"
)

// Database manages users.
type Database interface {
	// SetUser creates a user or changes its password. It is idempotent, because a password
	// cannot be read.
	SetUser(ctx context.Context, name, password string) error
	// DropUser removes a user, if it exists.
	DropUser(ctx context.Context, name string) error
}

// ErrRefused means that the database rejected the request.
var ErrRefused = errors.New("the database refuses")

// ErrUnreachable means that the database did not answer.
var ErrUnreachable = errors.New("the database is out of reach")
