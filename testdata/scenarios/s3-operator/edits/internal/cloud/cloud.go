// Package cloud is what the operator wants of an account with a cloud: buckets,
// and users who may open them. Client talks to one; its tests and those of the
// controllers do without.
package cloud

import (
	"context"
	"errors"
)

// What a cloud may answer, beside all that can go wrong on the way.
var (
	ErrNotFound = errors.New("not found")
	ErrBusy     = errors.New("too many requests")
	ErrRefused  = errors.New("refused") // the same request will never succeed
)

// Bucket is a bucket as it is asked for, and what the cloud adds.
type Bucket struct {
	Name      string `json:"name"`
	Region    string `json:"region"`
	Versioned bool   `json:"versioned"`
	// URL is where the bucket answers: empty while the cloud is making it.
	URL string `json:"url,omitempty"`
}

// Key lets a user in.
type Key struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// Account is an account with a cloud. Buckets and users are told apart by name;
// to make what is there, or to delete what is not, is no error.
type Account interface {
	// Bucket returns the bucket of that name, or ErrNotFound.
	Bucket(ctx context.Context, name string) (Bucket, error)
	// PutBucket makes a bucket, or changes the one that is there.
	PutBucket(ctx context.Context, bucket Bucket) (Bucket, error)
	DeleteBucket(ctx context.Context, name string) error
	// PutUser makes the user who may open a bucket, and returns his key.
	PutUser(ctx context.Context, bucket string) (Key, error)
	DeleteUser(ctx context.Context, bucket string) error
}
