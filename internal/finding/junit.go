package finding

import (
	"encoding/xml"
	"fmt"
)

// The part of the JUnit XML format that CI systems read.
type (
	junitReport struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns a report in the JUnit XML format. Each rule without findings is a test that
// passed, and each finding is a test of its rule. Findings below the severity that fails are
// tests that passed with an output.
func JUnit(validator string, rules []Rule, findings []Finding, failing Severity) ([]byte, error) {
	suite := junitSuite{Name: validator}
	for _, r := range rules {
		found := false
		for _, f := range findings {
			if f.Rule == r.Name {
				found = true
				suite.add(f, failing)
			}
		}
		if !found {
			suite.Cases = append(suite.Cases, junitCase{Class: validator, Name: r.Name})
		}
	}
	suite.Tests = len(suite.Cases)
	text, err := xml.MarshalIndent(junitReport{Suites: []junitSuite{suite}}, "", "  ")
	return fmt.Appendf(nil, "%s%s\n", xml.Header, text), err
}

func (s *junitSuite) add(f Finding, failing Severity) {
	text := f.Text(func(_, text string) string { return text })
	c := junitCase{Class: s.Name, Name: f.Rule, File: f.File, Line: f.Line}
	if f.Severity >= failing {
		c.Failure = &junitFailure{f.Message, text}
		s.Failures++
	} else {
		c.Output = text
	}
	s.Cases = append(s.Cases, c)
}
