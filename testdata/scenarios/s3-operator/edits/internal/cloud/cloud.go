// Package cloud manages buckets and their users in a cloud account. Client talks to a cloud;
// tests use package cloudtest.
package cloud

import (
	"context"
	"errors"
)

// Errors of a cloud. Other errors are those of the connection.
var (
	ErrNotFound = errors.New("not found")
	ErrBusy     = errors.New("too many requests")
	ErrRefused  = errors.New("refused") // the same request will never succeed
)

// Bucket is a bucket with the values that the cloud adds.
type Bucket struct {
	Name      string `json:"name"`
	Region    string `json:"region"`
	Versioned bool   `json:"versioned"`
	// URL is empty until the bucket is ready.
	URL string `json:"url,omitempty"`
}

// Key is the access key of a user.
type Key struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// Account is a cloud account. Names identify buckets and users. All writes are idempotent.
type Account interface {
	// Bucket returns the bucket with a name, or ErrNotFound.
	Bucket(ctx context.Context, name string) (Bucket, error)
	// PutBucket creates or updates a bucket.
	PutBucket(ctx context.Context, bucket Bucket) (Bucket, error)
	DeleteBucket(ctx context.Context, name string) error
	// PutUser creates the user of a bucket and returns its key.
	PutUser(ctx context.Context, bucket string) (Key, error)
	DeleteUser(ctx context.Context, bucket string) error
}
