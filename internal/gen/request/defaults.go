package request

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// ConfigKey is the key of generator settings in PROJECT's plugins. Its value has the key
// args, a list of arguments in controller-gen's syntax.
const ConfigKey = "generate.operon.dev/v1"

// Files of a project.
const (
	// HeaderFile is the default header file of generated Go code.
	HeaderFile = "hack/boilerplate.go.txt"
	// DeepcopyFile is the file of generated code in each API package.
	DeepcopyFile = "zz_generated.deepcopy.go"
)

// defaultArgs returns the default arguments of a project: plugins[ConfigKey].args of
// PROJECT, or the arguments in the Makefile of kubebuilder v4.15. cfg may be nil.
//
// That Makefile takes the year of the header from the clock. operon keeps the year of
// the project's generated code, and uses thisYear only for the first generated file. The
// outputs therefore do not change at the end of the year.
func defaultArgs(cfg *project.Config, p *scaffold.Plan, thisYear string) ([]string, error) {
	if cfg != nil {
		args, err := configured(cfg.Plugins)
		if err != nil || len(args) > 0 {
			return args, err
		}
	}
	object := "object"
	header, err := p.Read(HeaderFile)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the header is optional
	case err != nil:
		return nil, err
	default:
		object += ":headerFile=" + strconv.Quote(HeaderFile)
		if year := yearOf(cfg, p, string(header), thisYear); year != "" {
			object += ",year=" + year
		}
	}
	return []string{
		"rbac:roleName=manager-role", "crd", "webhook", object,
		"paths=./...", "output:crd:artifacts:config=config/crd/bases",
	}, nil
}

// configured returns the args below ConfigKey, which may be empty.
func configured(plugins map[string]any) (args []string, err error) {
	settings, ok := plugins[ConfigKey]
	if !ok || settings == nil {
		return args, nil
	}
	m, ok := settings.(map[string]any)
	if !ok {
		return nil, fault.Usage("write args: [crd, ...] below it", "PROJECT: plugins[%q] is not a mapping", ConfigKey)
	}
	switch list := m["args"].(type) {
	case nil:
		return args, nil
	case []string:
		return list, nil
	case []any:
		for i, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil, fault.Usage("quote it", "PROJECT: plugins[%q].args[%d] is not a string: %v", ConfigKey, i, v)
			}
			args = append(args, s)
		}
		return args, nil
	}
	return nil, fault.Usage("write one argument per list item", "PROJECT: plugins[%q].args is not a list", ConfigKey)
}

// yearOf returns the year that replaces " YEAR" in header: that of the first API package
// whose generated code starts with this header, or thisYear. It is empty if the header
// has no placeholder.
func yearOf(cfg *project.Config, p *scaffold.Plan, header, thisYear string) string {
	if !strings.Contains(header, " YEAR") {
		return ""
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(header)), " YEAR", " ([0-9]{4})")
	re, err := regexp.Compile(pattern)
	if err != nil || cfg == nil {
		return thisYear
	}
	for _, r := range cfg.Resources {
		src, err := p.Read(path.Join(cfg.APIDir(r), DeepcopyFile))
		if err != nil {
			continue
		}
		if m := re.FindSubmatch(src); m != nil {
			return string(m[1])
		}
	}
	return thisYear
}
