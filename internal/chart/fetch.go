package chart

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/input"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// Source says where a chart is.
type Source struct {
	Chart      string // a folder, an archive, the URL of an archive, oci://HOST/PATH/NAME, REPO/NAME or, with Repository, NAME
	Repository string // the URL of a repository, or ""
	Version    string // a version or a constraint such as ~1.2; "" is the newest release
}

// Fetched is a chart with its dependencies.
type Fetched struct {
	Chart  *chart.Chart
	Files  map[string][]byte // by their paths in the chart, with slashes; dependencies are below charts/
	Origin string            // the folder, the file, or the URL without credentials

	isFolder bool // whether the origin is a folder
}

// in returns an error about the chart with its origin.
func (f *Fetched) in(err error) error {
	if located, isChart := InFolder(f.Origin, err); isChart && f.isFolder {
		return &fault.Error{Code: fault.CodeUsage, Hint: fault.HintOf(err), Err: located}
	}
	return fault.In(f.Origin, err)
}

// Fetcher fetches charts as helm pull does. It writes nothing.
type Fetcher struct {
	Dir      string                   // the folder of relative paths; "" is the folder of this process
	Getenv   func(name string) string // finds Helm's repositories.yaml
	Registry image.Registry           // for oci://; credentials come from the configuration of docker
	Timeout  time.Duration            // for one chart with its dependencies; 0 is 2 minutes
}

// The limits for what is downloaded. Helm has the same ones for the unpacked chart.
const (
	maxArchive  = 20 << 20
	maxIndex    = 100 << 20
	maxUnpacked = 100 << 20
)

// Fetch returns a chart, and downloads the dependencies that its folder charts/ lacks. Each error
// is one line that names the chart.
func (f Fetcher) Fetch(ctx context.Context, s Source) (*Fetched, error) {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fault.Failed("check the network, or download the chart and name the file", "cannot fetch %s: no answer within %s", redacted(s.Chart), timeout))
	defer cancel()
	fetched, err := f.one(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := f.addDependencies(ctx, fetched, []*chart.Chart{fetched.Chart}); err != nil {
		return nil, err
	}
	if fetched.Chart, err = parse(fetched.Files); err != nil {
		return nil, fetched.in(err)
	}
	if err := CheckInstallable(fetched.Chart); err != nil {
		return nil, fetched.in(err)
	}
	return fetched, nil
}

// one fetches a chart without dependencies.
func (f Fetcher) one(ctx context.Context, s Source) (*Fetched, error) {
	switch {
	case s.Repository != "":
		return f.fromRepository(ctx, f.knownRepository(s.Repository), s.Chart, s.Version)
	case strings.HasPrefix(s.Chart, "oci://"):
		return f.fromRegistry(ctx, s.Chart, s.Version)
	case isURL(s.Chart):
		return repository{}.archive(ctx, s.Chart, "")
	}
	place := s.Chart
	if !filepath.IsAbs(place) {
		place = filepath.Join(f.Dir, place)
	}
	info, err := os.Stat(place)
	switch {
	case err == nil && info.IsDir():
		return fromFolder(s.Chart, place)
	case err == nil:
		return fromFile(s.Chart, place)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fault.Failed("check the path", "cannot read the chart %s: %v", s.Chart, fault.Reason(err))
	}
	if name, chartName, isName := strings.Cut(s.Chart, "/"); isName && !isPath(s.Chart) {
		r, err := f.configured(name)
		if err != nil {
			return nil, err
		}
		return f.fromRepository(ctx, r, chartName, s.Version)
	}
	return nil, fault.Usage("name a folder, an archive, a URL, oci://HOST/PATH/NAME or REPO/NAME, or add the URL of the repository", "there is no chart %s", s.Chart)
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// isPath reports whether a name that does not exist can only be the path of a file.
func isPath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.Count(name, "/") > 1 ||
		strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// redacted returns a URL without its password.
func redacted(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

// fromFolder reads a folder, which has a name for the user.
func fromFolder(name, dir string) (*Fetched, error) {
	fetched := &Fetched{Origin: name, isFolder: true}
	files, err := readFolder(dir, true)
	if err != nil {
		return nil, fetched.in(err)
	}
	if fetched.Chart, err = parse(files); err != nil {
		return nil, fetched.in(err)
	}
	fetched.Files = files
	return fetched, nil
}

// fromFile is fromFolder for an archive.
func fromFile(name, place string) (*Fetched, error) {
	file, err := input.Open(place)
	if err != nil {
		return nil, fault.Failed("check the file", "cannot read the chart %s: %v", name, fault.Reason(err))
	}
	defer func() { _ = file.Close() }()
	content, err := limited(file, maxArchive)
	if err != nil {
		return nil, fault.In(name, err)
	}
	return unpacked(name, content)
}

// archive downloads an archive. digest is its SHA-256 checksum in hexadecimal digits, or "".
func (r repository) archive(ctx context.Context, address, digest string) (*Fetched, error) {
	content, err := r.get(ctx, address, maxArchive)
	if err != nil {
		return nil, err
	}
	if err := checkDigest(redacted(address), content, digest); err != nil {
		return nil, err
	}
	return unpacked(redacted(address), content)
}

// get downloads a file of at most so many bytes.
func (r repository) get(ctx context.Context, address string, most int64) ([]byte, error) {
	shown := redacted(address)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || request.URL.Host == "" {
		return nil, fault.Usage("use a URL such as https://example.org/charts", "%s is not a URL", shown)
	}
	request.Header.Set("User-Agent", "operon")
	if r.Username != "" && r.sends(request.URL) {
		request.SetBasicAuth(r.Username, r.Password)
	}
	transport, err := r.transport()
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: input.Steady(transport)}).Do(request)
	if err != nil {
		return nil, cannotFetch(ctx, shown, err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fault.Failed("add the repository with helm repo add NAME URL --username USER, and use NAME/CHART", "cannot fetch %s: the server refuses the credentials", shown)
	case http.StatusNotFound:
		return nil, fault.Failed("check the URL", "cannot fetch %s: the server does not have it", shown)
	default:
		return nil, fault.Failed("try again, or download the chart and name the file", "cannot fetch %s: the server answers %s", shown, answer.Status)
	}
	content, err := limited(answer.Body, most)
	if refused := (*fault.Error)(nil); errors.As(err, &refused) {
		return nil, fault.In(shown, err)
	} else if err != nil {
		return nil, cannotFetch(ctx, shown, err)
	}
	return content, nil
}

// cannotFetch explains an error of the network. The end of the context is the cause of what fails
// then.
func cannotFetch(ctx context.Context, shown string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.Failed("check the URL and the network", "cannot fetch %s: %v", shown, fault.Reason(err))
}

func (r repository) transport() (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 30 * time.Second
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: r.InsecureSkipTLSVerify} //nolint:gosec // the user asked for it
	if r.CAFile != "" {
		authorities, err := input.ReadFile(r.CAFile, input.Text)
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if err != nil || !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, fault.Failed("correct caFile in Helm's repositories.yaml", "repository %s: cannot read the certificates in %s", r.Name, r.CAFile)
		}
	}
	if r.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(r.CertFile, r.KeyFile)
		if err != nil {
			return nil, fault.Failed("correct certFile and keyFile in Helm's repositories.yaml", "repository %s: %v", r.Name, err)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{certificate}
	}
	return t, nil
}

// limited reads everything, and fails if it is too much.
func limited(from io.Reader, most int64) ([]byte, error) {
	content, err := input.ReadAll(from, most)
	if errors.As(err, new(input.TooLarge)) {
		return nil, fault.Usage("check that it is a chart", "it is %v", err)
	}
	return content, err
}

// parse loads a chart from its files.
func parse(files map[string][]byte) (*chart.Chart, error) {
	c, err := LoadFiles(files)
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeUsage, Err: err, Hint: "correct the chart; helm lint shows more"}
	}
	return c, nil
}

// unpacked returns the chart in an archive.
func unpacked(origin string, content []byte) (*Fetched, error) {
	files, err := unpack(content)
	if err != nil {
		return nil, fault.In(origin, err)
	}
	c, err := parse(files)
	if err != nil {
		return nil, fault.In(origin, err)
	}
	return &Fetched{Chart: c, Files: files, Origin: origin}, nil
}

// unpack returns the files of an archive by their paths in its only folder. The archives of
// dependencies in charts/ stay archives.
func unpack(content []byte) (map[string][]byte, error) {
	if err := checkArchive(content); err != nil {
		return nil, err
	}
	list, err := loader.LoadArchiveFiles(bytes.NewReader(content))
	if err != nil {
		return nil, fault.Usage("package the chart with helm package", "%s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	files := map[string][]byte{}
	for _, file := range list {
		if _, twice := files[file.Name]; twice {
			return nil, fault.Usage("package the chart with helm package", "%s occurs twice", file.Name)
		}
		files[path.Clean(file.Name)] = file.Data
	}
	return files, nil
}
