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
	"github.com/operon-dev/operon/internal/fault"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// DefaultIndex is where setup-envtest, and so Download, looks for releases.
var DefaultIndex = remote.DefaultIndexURL

// Download returns a folder with the programs for tests as Path does. What the
// store lacks is downloaded with the code of setup-envtest: the newest release of
// the version that the index at this URL has for this system. An archive must
// have the checksum that the index names, and its programs appear in the store in
// one rename, complete or not at all.
func (s *Store) Download(ctx context.Context, version, index string, progress Progress) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	if u, err := url.Parse(index); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fault.Usage("try "+DefaultIndex, "index %q is not the URL of a web server", index)
	}
	if dir := s.env.get(Var); dir != "" {
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
	stage, err := os.MkdirTemp(s.private(), stagePrefix)
	if err != nil {
		return "", explainStore(fault.In("envtest store", err), s.root)
	}
	defer s.removeLeftovers(progress)
	d := download{client: &remote.HTTPClient{Log: logr.Discard(), IndexURL: index}, index: index, stage: stage, progress: progress}
	dir, err = d.into(ctx, s, want)
	if ctx.Err() != nil {
		err = fault.In("download", context.Cause(ctx))
	}
	return dir, explainStore(err, s.root)
}

// download is one call of Download, with the lock held.
type download struct {
	client   *remote.HTTPClient
	index    string
	stage    string
	progress Progress
}

// into downloads the wanted version to the store and returns its folder.
func (d download) into(ctx context.Context, s *Store, want version) (string, error) {
	release, archive, err := d.choose(ctx, want)
	if err != nil {
		return "", err
	}
	v := version{release.Major, release.Minor, release.Patch}
	d.progress.say(fmt.Sprintf("downloading Kubernetes %s for %s, which %s lists", v, platform(), d.index))
	file, err := d.fetch(ctx, release, archive)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	item := store.Item{Version: release, Platform: archive.Platform}
	unpacked := store.NewAt(d.stage)
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
	// It is read-only, and a folder moves to another one only when it is not.
	if err := os.Chmod(bin, 0o755); err != nil {
		return "", fault.In("envtest store", err)
	}
	final := s.folder(v)
	return final, fault.In("envtest store", publish(bin, final, filepath.Join(d.stage, "replaced")))
}

// choose finds the newest release in the index that is wanted, for this system.
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
	hint := "it has nothing for this system; operon envtest build needs only Go"
	if newest != "" {
		hint = "the newest one there is " + newest
	}
	return versions.Concrete{}, versions.PlatformItem{}, fault.Failed(hint, "no Kubernetes %s for %s in %s", want, platform(), d.index)
}

// fetch downloads an archive into the stage and returns it, at its start, once
// its checksum was found right.
func (d download) fetch(ctx context.Context, release versions.Concrete, archive versions.PlatformItem) (*os.File, error) {
	file, err := os.Create(filepath.Join(d.stage, "archive"))
	if err != nil {
		return nil, fault.In("envtest store", err)
	}
	start := time.Now()
	out := &meter{file: file, next: start.Add(reportEvery), progress: d.progress}
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
	d.progress.say(fmt.Sprintf("downloaded %d MB (%s)", out.bytes>>20, time.Since(start).Round(time.Second)))
	return file, nil
}

// failed returns the error of a failed download, with a hint.
func (d download) failed(err error) error {
	return fault.Failed("name another index with --index, or build from Go modules (operon envtest build)", "download from %s: %v", d.index, err)
}

// meter writes to a file and tells from time to time how much it was.
type meter struct {
	file     *os.File
	bytes    int64
	err      error // what the file said
	next     time.Time
	progress Progress
}

// Write implements io.Writer.
func (m *meter) Write(p []byte) (int, error) {
	n, err := m.file.Write(p)
	m.bytes += int64(n)
	m.err = err
	if now := time.Now(); now.After(m.next) {
		m.progress.say(fmt.Sprintf("%d MB so far", m.bytes>>20))
		m.next = now.Add(reportEvery)
	}
	return n, err
}
