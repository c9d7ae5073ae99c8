// Package databasetest provides a database for tests.
package databasetest

import (
	"context"
	"sync"

	"handsomeguy.cn/databaseuser/internal/database"
)

// Database is a database in memory. Its zero value is empty.
type Database struct {
	mu        sync.Mutex
	passwords map[string]string // by user
	err       error
}

var _ database.Database = &Database{}

// Fail makes all calls fail with err, until it is called with nil.
func (d *Database) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// Password returns the password of a user, and whether the user exists.
func (d *Database) Password(user string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	password, ok := d.passwords[user]
	return password, ok
}

// SetUser implements database.Database.
func (d *Database) SetUser(_ context.Context, name, password string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	if d.passwords == nil {
		d.passwords = map[string]string{}
	}
	d.passwords[name] = password
	return nil
}

// DropUser implements database.Database.
func (d *Database) DropUser(_ context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		delete(d.passwords, name)
	}
	return d.err
}
