package bundle

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// NewDockerfile returns a Dockerfile for the bundle in dir, a path in the build context, with
// labels for all annotations.
func NewDockerfile(dir string, annotations map[string]string) []byte {
	var out strings.Builder
	out.WriteString("# operon bundle generate updates these lines, and keeps those that you add.\nFROM scratch\n")
	left := maps.Clone(annotations)
	sections(annotations, func(comment string, keys []string) {
		out.WriteString("\n# " + comment + "\n")
		for _, key := range keys {
			out.WriteString(label(key, annotations[key]) + "\n")
			delete(left, key)
		}
	})
	if len(left) > 0 {
		out.WriteString("\n# Further lines of " + AnnotationsFile + ".\n")
		for _, key := range slices.Sorted(maps.Keys(left)) {
			out.WriteString(label(key, left[key]) + "\n")
		}
	}
	out.WriteString("\n# The folders that the labels name.\n")
	for _, folder := range folders(annotations) {
		out.WriteString(copyLine(dir, folder) + "\n")
	}
	return []byte(out.String())
}

// folders returns the folders of a bundle with these annotations.
func folders(annotations map[string]string) []string {
	list := []string{ManifestsDir, MetadataDir}
	if folder := strings.Trim(annotations[TestConfigKey], "/"); folder != "" {
		list = append(list, folder)
	}
	return list
}

func copyLine(dir, folder string) string {
	return "COPY " + path.Join(dir, folder) + " /" + folder + "/"
}

var plainValue = lazyregexp.New(`^[A-Za-z0-9._/:+,@=-]*$`)

func label(key, value string) string {
	if !plainValue().MatchString(value) {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`
	}
	return "LABEL " + key + "=" + value
}

// EditDockerfile updates the labels and folders in a Dockerfile. Labels that are annotations
// of no bundle, and other lines, stay. removed are keys whose labels must not exist.
func EditDockerfile(src []byte, dir string, annotations map[string]string, removed []string) ([]byte, error) {
	lines := instructions(string(src))
	from := slices.IndexFunc(lines, func(l string) bool { return is(l, "FROM") })
	if from < 0 {
		return nil, fault.Usage("add it, as in FROM scratch", "the Dockerfile has no line FROM")
	}
	for _, key := range removed {
		lines = slices.DeleteFunc(lines, func(l string) bool { return is(l, "LABEL") && strings.TrimSpace(l[len("LABEL"):]) == labelOf(l, key) })
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		lines = setLabel(lines, key, label(key, annotations[key]))
	}
	for _, folder := range folders(annotations) {
		lines = setCopy(lines, dir, folder)
	}
	if annotations[TestConfigKey] == "" {
		lines = slices.DeleteFunc(lines, func(l string) bool { return copies(l, ScorecardDir) })
	}
	return []byte(strings.Join(lines, "")), nil
}

// instructions splits a Dockerfile into instructions, comments and blank lines. An
// instruction over several lines is one item.
func instructions(src string) []string {
	if src != "" && !strings.HasSuffix(src, "\n") {
		src += "\n"
	}
	var list []string
	open := false
	for line := range strings.SplitAfterSeq(src, "\n") {
		if line == "" {
			continue
		}
		if open {
			list[len(list)-1] += line
		} else {
			list = append(list, line)
		}
		open = strings.HasSuffix(strings.TrimSpace(line), `\`) && (open || !strings.HasPrefix(strings.TrimSpace(line), "#"))
	}
	return list
}

func is(instruction, name string) bool {
	words := strings.Fields(instruction)
	return len(words) > 0 && strings.EqualFold(words[0], name)
}

// assignment matches the label of a key with its value.
func assignment(key string) *regexp.Regexp {
	return regexp.MustCompile(`(^|\s)"?` + regexp.QuoteMeta(key) + `"?=("(?:[^"\\]|\\.)*"|\S*)`)
}

// labelOf returns key=value as the instruction has it, or "".
func labelOf(instruction, key string) string {
	return strings.TrimSpace(assignment(key).FindString(instruction))
}

var anyAssignment = lazyregexp.New(`"?([^\s"=]+)"?=("(?:[^"\\]|\\.)*"|\S*)`)

// Labels returns the labels in a Dockerfile.
func Labels(src []byte) map[string]string {
	labels := map[string]string{}
	for _, l := range instructions(string(src)) {
		if !is(l, "LABEL") {
			continue
		}
		for _, m := range anyAssignment().FindAllStringSubmatch(l, -1) {
			value := m[2]
			if text, quoted := strings.CutPrefix(value, `"`); quoted {
				value = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`).Replace(strings.TrimSuffix(text, `"`))
			}
			labels[m[1]] = value
		}
	}
	return labels
}

// Custom returns the annotations that operon does not manage.
func Custom(annotations map[string]string) map[string]string {
	custom := maps.Clone(annotations)
	maps.DeleteFunc(custom, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
	return custom
}

// setLabel replaces the value of a label, or adds one after the last label.
func setLabel(lines []string, key, line string) []string {
	want := strings.TrimPrefix(line, "LABEL ")
	last := slices.IndexFunc(lines, func(l string) bool { return is(l, "FROM") })
	for i, l := range lines {
		if !is(l, "LABEL") {
			continue
		}
		if old := labelOf(l, key); old != "" {
			lines[i] = strings.Replace(l, old, want, 1)
			return lines
		}
		last = i
	}
	return slices.Insert(lines, last+1, line+"\n")
}

// copies reports whether an instruction copies to that folder of the image.
func copies(instruction, folder string) bool {
	words := strings.Fields(instruction)
	return is(instruction, "COPY") && len(words) >= 3 && strings.Trim(words[len(words)-1], "/") == folder
}

// setCopy makes one instruction copy the folder.
func setCopy(lines []string, dir, folder string) []string {
	if i := slices.IndexFunc(lines, func(l string) bool { return copies(l, folder) }); i >= 0 {
		words := strings.Fields(lines[i])
		if from := words[len(words)-2]; path.Clean(from) != path.Join(dir, folder) {
			lines[i] = strings.Replace(lines[i], from, path.Join(dir, folder), 1)
		}
		return lines
	}
	return append(lines, copyLine(dir, folder)+"\n")
}
