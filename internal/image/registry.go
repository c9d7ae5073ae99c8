package image

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// Registry says how to talk to registries. Credentials come from the configuration of docker
// and podman.
type Registry struct {
	SkipTLSVerify bool // accept any certificate
	PlainHTTP     bool // no TLS

	limits limits // registryLimits if they are zero; tests have shorter ones
}

// ParseReference returns the reference of an image in a registry, such as
// ghcr.io/acme/fleet:v1.0.0.
func (r Registry) ParseReference(image string) (name.Reference, error) {
	var options []name.Option
	if r.PlainHTTP {
		options = append(options, name.Insecure)
	}
	ref, err := name.ParseReference(image, options...)
	hint := "use a reference such as ghcr.io/acme/fleet:v1.0.0"
	switch {
	case strings.Contains(image, "://"): // https: would be a registry
	case err == nil:
		return ref, nil
	case parses(strings.ToLower(image)):
		hint = "use lowercase letters in its name"
	case parses(image[:strings.LastIndex(image, "/")+1] + "a" + image[strings.LastIndex(image, "/")+1:]):
		hint = "use a name of two characters or more"
	}
	return nil, fault.Usage(hint, "%q is not the reference of an image", image)
}

// parses reports whether a text is the reference of an image.
func parses(text string) bool {
	_, err := name.ParseReference(text)
	return err == nil
}

// limits are the times in which a registry must answer.
type limits struct {
	header time.Duration // until it begins to answer; the library asks three times
	push   time.Duration // the same when it processes an upload, which can take long
	ask    time.Duration // for a manifest, and for the list of tags, which comes in pages
}

var registryLimits = limits{header: time.Minute, push: 10 * time.Minute, ask: 45 * time.Second}

func (r Registry) timeouts() limits { return cmp.Or(r.limits, registryLimits) }

// asking returns a context for a request, whose end has a reason, and a function to call when the registry has answered. What is read
// later of the answer, such as layers, can take longer.
func (r Registry) asking(ctx context.Context, verb, image string) (asked context.Context, answered func() bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := fault.Failed("try again, or ask who runs the registry", "cannot %s %s: no answer within %s", verb, image, r.timeouts().ask)
	return ctx, time.AfterFunc(r.timeouts().ask, func() { cancel(late) }).Stop
}

func (r Registry) options(ctx context.Context, timeout time.Duration) []remote.Option {
	t := remote.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = timeout
	if r.SkipTLSVerify {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user asked for it
	}
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("operon"),
		remote.WithTransport(input.Steady(t)),
	}
}

// Pull returns an image of a registry. If the reference is an index, it returns the image for the
// platform.
func (r Registry) Pull(ctx context.Context, image string, platform v1.Platform) (v1.Image, error) {
	ref, err := r.ParseReference(image)
	if err != nil {
		return nil, err
	}
	ctx, answered := r.asking(ctx, "pull", image)
	defer answered()
	img, err := remote.Image(ref, append(r.options(ctx, r.timeouts().header), remote.WithPlatform(platform))...)
	if err != nil {
		return nil, r.explain(ctx, "pull", image, ref, err)
	}
	return img, nil
}

// Resolve returns the reference of an image by its digest: the digest of the index, if it is for several
// platforms.
func (r Registry) Resolve(ctx context.Context, image string) (string, error) {
	ref, err := r.ParseReference(image)
	if err != nil {
		return "", err
	}
	tag, ok := ref.(name.Tag)
	if !ok {
		return image, nil
	}
	ctx, answered := r.asking(ctx, "resolve", image)
	defer answered()
	found, err := remote.Get(ref, r.options(ctx, r.timeouts().header)...)
	if err != nil {
		return "", r.explain(ctx, "resolve", image, ref, err)
	}
	return strings.TrimSuffix(image, ":"+tag.TagStr()) + "@" + found.Digest.String(), nil
}

// Tags returns the tags of a repository such as ghcr.io/acme/charts/fleet.
func (r Registry) Tags(ctx context.Context, repository string) ([]string, error) {
	ref, err := r.ParseReference(repository)
	if err != nil {
		return nil, err
	}
	ctx, answered := r.asking(ctx, "list the tags of", repository)
	defer answered()
	tags, err := remote.List(ref.Context(), r.options(ctx, r.timeouts().header)...)
	if err != nil {
		return nil, r.explain(ctx, "list the tags of", repository, ref, err)
	}
	return tags, nil
}

// Push writes an image, or an index of images, to a registry.
func (r Registry) Push(ctx context.Context, image string, content Content) error {
	ref, err := r.ParseReference(image)
	if err != nil {
		return err
	}
	if content.Index != nil {
		err = remote.WriteIndex(ref, content.Index, r.options(ctx, r.timeouts().push)...)
	} else {
		err = remote.Write(ref, content.Image, r.options(ctx, r.timeouts().push)...)
	}
	if err != nil {
		return r.explain(ctx, "push", image, ref, err)
	}
	return nil
}

// explain returns the error of a registry in one line, with a hint. The end of the context is the
// cause of what fails then.
func (r Registry) explain(ctx context.Context, verb, image string, ref name.Reference, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	host := ref.Context().RegistryStr()
	var refused *transport.Error
	if errors.As(err, &refused) {
		switch refused.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fault.Failed("log in with: docker login "+host, "cannot %s %s: the registry refuses the credentials", verb, image)
		case http.StatusNotFound:
			return fault.Failed("check the name and the tag", "cannot %s %s: the registry does not have it", verb, image)
		}
		return fault.Failed("try again, or ask who runs "+host, "cannot %s %s: the registry answers %d %s", verb, image, refused.StatusCode, http.StatusText(refused.StatusCode))
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fault.Failed("add the authority to the system's, or use --skip-tls-verify", "cannot %s %s: %v", verb, image, certificate.Err)
	}
	if errors.Is(err, input.ErrSlow) {
		return fault.Failed("try again, or ask who runs "+host, "cannot %s %s: %v", verb, image, input.ErrSlow)
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return fault.Failed("check the name of the registry, and the network", "cannot %s %s: cannot connect to %s", verb, image, host)
	}
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
		return fault.Failed("try again, or ask who runs "+host, "cannot %s %s: %s does not answer", verb, image, host)
	}
	var broken *url.Error
	if errors.As(err, &broken) && r.PlainHTTP {
		return fault.Failed("check the name of the registry", "cannot %s %s: %s does not answer as a registry does", verb, image, host)
	}
	if errors.As(err, &broken) {
		return fault.Failed("use --plain-http for a registry without TLS", "cannot %s %s: %v", verb, image, broken.Err)
	}
	return &fault.Error{Code: fault.CodeFailed, Msg: "cannot " + verb + " " + image, Hint: "try again, or ask who runs " + host, Err: err}
}
