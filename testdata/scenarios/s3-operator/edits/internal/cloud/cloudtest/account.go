// Package cloudtest provides a cloud account in memory for tests.
package cloudtest

import (
	"context"
	"sync"

	"github.com/systek/s3-operator/internal/cloud"
)

// Account is a cloud.Account in memory.
type Account struct {
	mu      sync.Mutex
	buckets map[string]cloud.Bucket
	users   map[string]bool
	writes  []string
	err     error
	pending bool
}

var _ cloud.Account = (*Account)(nil)

// NewAccount returns an account without buckets and users.
func NewAccount() *Account {
	return &Account{buckets: map[string]cloud.Bucket{}, users: map[string]bool{}}
}

// Fail makes all calls fail with err, until it is called with nil.
func (a *Account) Fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// Delay sets whether buckets stay pending.
func (a *Account) Delay(pending bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = pending
}

// Writes returns the calls that changed something, in order.
func (a *Account) Writes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.writes...)
}

// Bucket implements cloud.Account.
func (a *Account) Bucket(_ context.Context, name string) (cloud.Bucket, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bucket, ok := a.buckets[name]
	switch {
	case a.err != nil:
		return cloud.Bucket{}, a.err
	case !ok:
		return cloud.Bucket{}, cloud.ErrNotFound
	}
	return a.reached(bucket), nil
}

// PutBucket implements cloud.Account.
func (a *Account) PutBucket(_ context.Context, bucket cloud.Bucket) (cloud.Bucket, error) {
	err := a.write("put bucket "+bucket.Name, func() { a.buckets[bucket.Name] = bucket })
	if err != nil {
		return cloud.Bucket{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reached(bucket), nil
}

// DeleteBucket implements cloud.Account.
func (a *Account) DeleteBucket(_ context.Context, name string) error {
	return a.write("delete bucket "+name, func() { delete(a.buckets, name) })
}

// PutUser implements cloud.Account.
func (a *Account) PutUser(_ context.Context, bucket string) (cloud.Key, error) {
	err := a.write("put user "+bucket, func() { a.users[bucket] = true })
	return cloud.Key{ID: "key-" + bucket, Secret: "secret-" + bucket}, err
}

// DeleteUser implements cloud.Account.
func (a *Account) DeleteUser(_ context.Context, bucket string) error {
	return a.write("delete user "+bucket, func() { delete(a.users, bucket) })
}

func (a *Account) write(call string, change func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	a.writes = append(a.writes, call)
	change()
	return nil
}

func (a *Account) reached(bucket cloud.Bucket) cloud.Bucket {
	if !a.pending {
		bucket.URL = "https://" + bucket.Name + ".example.org"
	}
	return bucket
}
