package hooktest

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// These types are the part of the JUnit XML format that CI systems read, with one suite
// for each test file.
type (
	junitReport struct {
		XMLName xml.Name      `xml:"testsuites"`
		Suites  []*junitSuite `xml:"testsuite"`
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
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the outcomes as a JUnit XML report.
func JUnit(outcomes []Outcome) ([]byte, error) {
	var report junitReport
	for _, o := range outcomes {
		f := o.Test.File
		if len(report.Suites) == 0 || report.Suites[len(report.Suites)-1].Name != f.Path {
			report.Suites = append(report.Suites, &junitSuite{Name: f.Path})
		}
		suite := report.Suites[len(report.Suites)-1]
		c := junitCase{Class: f.Subject(), Name: o.Test.Name, File: f.Path, Line: o.Test.Line, Output: o.Output}
		suite.Tests++
		if !o.Passed() {
			suite.Failures++
			first, _, _ := strings.Cut(o.Failures[0].Message, "\n")
			c.Failure = &junitFailure{Message: first}
			for _, failure := range o.Failures {
				c.Failure.Text += fmt.Sprintf("%s:%d: %s\n", f.Path, failure.Line, failure.Message)
			}
		}
		suite.Cases = append(suite.Cases, c)
	}
	content, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(content, '\n')...), nil
}
