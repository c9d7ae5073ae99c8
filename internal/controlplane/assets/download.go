package assets

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gobuild"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// DefaultIndex is the URL of the list of releases that setup-envtest uses.
var DefaultIndex = remote.DefaultIndexURL

const hintIndex = "name another index with --index, or build from Go modules (operon envtest build)"

// Download returns the folder that Path returns. If the store does not have the
// version, Download adds the newest matching release for this system from the index,
// a URL. It uses the code of setup-envtest. The archive must have the checksum of the
// index, and its programs appear in the store in one rename.
func (s *Store) Download(ctx context.Context, version, index string, progress Progress) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(index); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fault.Usage("try "+DefaultIndex, "index %q is not the URL of a web server", index)
	}
	if dir := environ.Get(s.env, Var); dir != "" {
		return checkVar(dir, programs)
	}
	dir, _, err := s.find(want, programs)
	if err != nil || dir != "" {
		return dir, err
	}
	unlock, err := s.lock(ctx, progress)
	if err != nil {
		return "", explainStore(err, s.root)
	}
	defer unlock()
	if dir, _, err := s.find(want, programs); err != nil || dir != "" {
		return dir, alreadyThere(err, dir, progress)
	}
	s.removeLeftovers(progress)
	work, err := os.MkdirTemp(s.private(), buildPrefix)
	if err != nil {
		return "", explainStore(fault.In("envtest store", err), s.root)
	}
	defer s.removeLeftovers(progress)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := download{client: &remote.HTTPClient{Log: logr.Discard(), IndexURL: index}, index: index, dir: work, progress: progress}
	d.silence = time.AfterFunc(s.patience, func() { cancel(fault.Failed(hintIndex, "%s sends almost nothing for %s", index, s.patience)) })
	defer d.silence.Stop()
	dir, err = d.into(ctx, s, want)
	if ctx.Err() != nil {
		err = fault.In("download", context.Cause(ctx))
	}
	return dir, explainStore(err, s.root)
}

// download is the state of one call of Download, which holds the lock.
type download struct {
	client   *remote.HTTPClient
	index    string
	dir      string
	progress Progress
	silence  *time.Timer // ends the download
}

// into downloads the wanted version into the store and returns its folder.
func (d download) into(ctx context.Context, s *Store, want version) (string, error) {
	release, archive, err := d.choose(ctx, want)
	if err != nil {
		return "", err
	}
	v := version{release.Major, release.Minor, release.Patch}
	d.progress.report(fmt.Sprintf("downloading Kubernetes %s for %s from %s", v, platform(), d.index))
	file, err := d.fetch(ctx, release, archive, s.patience)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	item := store.Item{Version: release, Platform: archive.Platform}
	unpacked := store.NewAt(d.dir)
	if err := unpacked.Add(logr.NewContext(ctx, logr.Discard()), item, file); err != nil {
		return "", fault.Failed("is there room on the disk that holds "+s.root+"?", "unpack Kubernetes %s: %v", v, err)
	}
	bin, err := unpacked.Path(item)
	if err != nil {
		return "", fault.In("envtest store", err)
	}
	if err := complete(bin, programs); err != nil {
		return "", fault.Failed("choose another --index or version, or build (operon envtest build)", "the archive of Kubernetes %s is not usable: %v", v, err)
	}
	for _, name := range programs {
		if err := syncFile(Program(bin, name)); err != nil {
			return "", fault.In("envtest store", err)
		}
	}
	// The folder is read-only, and such a folder cannot move to another parent.
	if err := os.Chmod(bin, 0o755); err != nil {
		return "", fault.In("envtest store", err)
	}
	final := s.folder(v)
	return final, fault.In("envtest store", publish(bin, final, filepath.Join(d.dir, "replaced")))
}

// choose returns the newest release in the index that matches the wanted version and
// this system.
func (d download) choose(ctx context.Context, want version) (versions.Concrete, versions.PlatformItem, error) {
	all, err := d.client.ListVersions(ctx)
	if err != nil {
		return versions.Concrete{}, versions.PlatformItem{}, d.failed(err)
	}
	newest := ""
	for _, set := range all { // newest first
		for _, p := range set.Platforms {
			if p.OS != runtime.GOOS || p.Arch != runtime.GOARCH {
				continue
			}
			if want.matches(version{set.Version.Major, set.Version.Minor, set.Version.Patch}) {
				return set.Version, p, nil
			}
			if newest == "" {
				newest = set.Version.String()
			}
		}
	}
	hint := "the index has nothing for this system: run operon envtest build, which needs only Go"
	if newest != "" {
		hint = "the newest version for this system is " + newest
	}
	return versions.Concrete{}, versions.PlatformItem{}, fault.Failed(hint, "no Kubernetes %s for %s in %s", want, platform(), d.index)
}

// fetch downloads an archive, verifies its checksum and returns the open file at its
// start.
func (d download) fetch(
	ctx context.Context, release versions.Concrete, archive versions.PlatformItem, patience time.Duration,
) (*os.File, error) {
	file, err := os.Create(filepath.Join(d.dir, "archive"))
	if err != nil {
		return nil, fault.In("envtest store", err)
	}
	start := time.Now()
	out := &meter{file: file, next: start.Add(gobuild.ReportEvery), progress: d.progress, alive: func() { d.silence.Reset(patience) }}
	defer d.silence.Stop()
	err = d.client.GetVersion(ctx, release, archive, out)
	if err != nil && out.err == nil {
		err = d.failed(err)
	}
	if err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	d.progress.report(fmt.Sprintf("downloaded %d MB (%s)", out.bytes>>20, time.Since(start).Round(time.Second)))
	return file, nil
}

// failed returns the error of a failed download, with a hint.
func (d download) failed(err error) error {
	return fault.Failed(hintIndex, "download from %s: %v", d.index, err)
}

// meter writes to a file and reports from time to time how much it has written.
type meter struct {
	file     *os.File
	bytes    int64
	err      error // of the last write
	next     time.Time
	progress Progress
	alive    func() // called when the server has sent enough
	counted  int64  // bytes until then
}

// enough is the number of bytes that a server must send before the patience of the store ends.
const enough = 20 << 10

// Write implements io.Writer.
func (m *meter) Write(p []byte) (int, error) {
	n, err := m.file.Write(p)
	m.bytes += int64(n)
	m.err = err
	if m.bytes-m.counted >= enough {
		m.counted = m.bytes
		m.alive()
	}
	if now := time.Now(); now.After(m.next) {
		m.progress.report(fmt.Sprintf("downloaded %d MB so far", m.bytes>>20))
		m.next = now.Add(gobuild.ReportEvery)
	}
	return n, err
}
