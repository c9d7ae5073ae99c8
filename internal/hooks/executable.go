package hooks

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// dockerfiles are patterns for the names of files that build an image.
var dockerfiles = []string{"Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile"}

var (
	continued = lazyregexp.New(`\\\r?\n`)
	// wholeFolder matches what applies such a line to all files of a folder.
	wholeFolder = lazyregexp.New(`chmod -\w*R|--chmod|/\*(\s|$)|\bfind\b[^*]*$`)
	// chmodRun matches a line that makes files executable: chmod +x, chmod -R 0755, COPY --chmod=755.
	chmodRun = lazyregexp.New(`\bchmod\b[^\n]*?(?:[ =][ugoa]*\+[rwst]*[xX]|[ =]0?[1357][0-7]{2}\b)[^\n]*`)
)

// executableInImage returns a function that reports whether the image of the project makes a script of the hooks folder
// dir executable, by the name of the script in it. It looks for a Dockerfile beside the folder, and above it.
func executableInImage(dir string) func(script string) bool {
	var lines []string
	for range 3 { // up to the root of an addon-operator, above modules/NAME/hooks
		dir = filepath.Dir(dir)
		for _, pattern := range dockerfiles {
			names, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is correct
			for _, name := range names {
				if src, err := input.ReadFile(name, input.Text); err == nil {
					lines = append(lines, strings.Split(continued().ReplaceAllString(string(src), " "), "\n")...)
				}
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "#") || !chmodRun().MatchString(line)
	})
	return func(script string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			all := strings.Contains(line, "hooks") && wholeFolder().MatchString(line)
			return all || strings.Contains(line, path.Base(script)) || strings.Contains(line, "*"+path.Ext(script))
		})
	}
}

// Command returns the program and the arguments that start a hook. A script that only the image makes executable starts
// with the interpreter in its first line.
func Command(file string) []string {
	info, err := os.Lstat(file)
	if err != nil || info.Mode()&0o111 != 0 { // links, whose targets chmod does not reach, have all bits
		return []string{file}
	}
	line, err := firstLine(file)
	program, interpreted := strings.CutPrefix(line, "#!")
	if err != nil || !interpreted {
		return []string{file}
	}
	name, argument, _ := strings.Cut(strings.TrimSpace(program), " ") // the kernel passes the rest as one argument
	if argument = strings.TrimSpace(argument); argument != "" {
		return []string{name, argument, file}
	}
	return []string{name, file}
}
