// Package database keeps the users of a database.
package database

import (
	"context"
	"errors"
)

// Database is one whose users can be changed.
type Database interface {
	// SetUser makes a user, or gives one that is there this password. It can be
	// repeated: no database tells what a password is.
	SetUser(ctx context.Context, name, password string) error
	// DropUser removes a user. One who is not there is no error.
	DropUser(ctx context.Context, name string) error
}

// ErrRefused is the error of a database that was reached and does not want to do
// what it is asked.
var ErrRefused = errors.New("the database refuses")

// ErrUnreachable is the error of a database that gives no answer.
var ErrUnreachable = errors.New("the database is out of reach")
