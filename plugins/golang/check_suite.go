package golang

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// suite reads the suite of a folder: its file, which the project's other code may
// help, and the specs. Without a suite, there are no files.
//
// A spec may have a scheme of its own, which is not the suite's: that is
// client-go's in this layout.
func (k checker) suite(dir string) (suite, specs program, err error) {
	all, ok := k.suites[dir]
	if !ok {
		if all, err = readProgram(k.c.Repo, dir, true, k.p); err != nil {
			return nil, nil, err
		}
		k.suites[dir] = all
	}
	at := slices.IndexFunc(all, func(s source) bool { return isTest(s.name) && s.file.Mentions("BeforeSuite") })
	if at < 0 {
		return nil, nil, nil
	}
	suite = program{all[at]}
	for i, s := range all {
		switch {
		case i == at:
		case isTest(s.name) && !s.file.Uses(clientScheme, "Scheme"):
			specs = append(specs, s)
		default:
			suite = append(suite, s)
		}
	}
	return suite, specs, nil
}

// checkSuiteScheme finds types that specs use and that the scheme of their suite
// does not know.
func (k checker) checkSuiteScheme(r project.Resource, suite, specs program) {
	types := k.c.APIPath(r)
	uses := specs.some(func(f *edit.GoFile) bool { return slices.Contains(f.Imports(), types) })
	if uses && !k.registered(suite, r) {
		k.p.Warn(scaffold.Warning{File: suite[0].name, Rule: ruleSuiteUnwired, Lines: addition(suite[0], nil, registerInSuite(k.c, r)),
			Message: fmt.Sprintf("the types of %s %s, which specs here use, are not registered with the suite's scheme; add these lines, or repeat its create command", r.Version, r.Kind)})
	}
}

// checkSuiteWebhooks finds webhooks that specs are about and that their suite
// does not serve.
func (k checker) checkSuiteWebhooks(r project.Resource, suite, specs program) {
	about := func(f *edit.GoFile) bool {
		return f.Mentions(r.Kind+"CustomDefaulter") || f.Mentions(r.Kind+"CustomValidator")
	}
	serves := func(f *edit.GoFile) bool { return f.Declares()[webhookSetup(r)] == 0 && f.Mentions(webhookSetup(r)) }
	if specs.some(about) && !suite.some(serves) {
		k.p.Warn(scaffold.Warning{File: suite[0].name, Rule: ruleSuiteUnwired, Lines: addition(suite[0], nil, serveFrom(r)),
			Message: fmt.Sprintf("the webhooks of %s %s, which specs here are about, are not served; add these lines, or repeat operon create webhook for it", r.Version, r.Kind)})
	}
}
