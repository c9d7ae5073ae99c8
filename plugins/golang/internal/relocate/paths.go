package relocate

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// repath returns the new form of a relative path in the test name, which runs in its folder. A
// string that is not an argument of a join counts as a path if the file or folder exists.
func (m *move) repath(name, rel string, joined bool) string {
	from := path.Dir(cmp.Or(m.files[name], name))
	target := path.Join(from, rel)
	if strings.HasPrefix(target, "../") {
		return rel
	}
	next := m.placeOf(target)
	if path.Join(path.Dir(name), rel) == next {
		return rel // it is right, in whatever form the user wrote it
	}
	if !joined && !m.plan.Exists(next) && !m.isFolder(next) {
		return rel
	}
	now := relative(path.Dir(name), next)
	if strings.HasSuffix(rel, "/") {
		now += "/"
	}
	return now
}

// placeOf returns the new path of a file or folder. For a folder that was split, it is the
// first place.
func (m *move) placeOf(target string) string {
	for dir := target; dir != "."; dir = path.Dir(dir) {
		if next, ok := m.moved[dir]; ok {
			return next + strings.TrimPrefix(target, dir)
		}
	}
	return target
}

func (m *move) isFolder(dir string) bool {
	names, err := m.plan.Below(dir)
	return err == nil && len(names) > 0
}

// relative returns the path from one folder of the project to another path in it.
func relative(from, to string) string {
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return path.Join(append(slices.Repeat([]string{".."}, len(a)), b...)...)
}
