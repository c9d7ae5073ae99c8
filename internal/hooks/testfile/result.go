package testfile

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Failure is an unmet expectation or another reason why a test failed.
type Failure struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Result is the result of a test.
type Result struct {
	File     string // as shown to the user
	Line     int
	Subject  string // what is tested, such as the name of a hook
	Name     string
	Failures []Failure
	Notes    []string // what the text report adds to the failures
	Output   string   // what the tested program printed
}

// Text returns the failures in each file, and one line for the file, for people. The results of a file follow
// each other.
func Text(results []Result) string {
	var out strings.Builder
	for len(results) > 0 {
		file, tests, failed := results[0].File, 0, 0
		for ; len(results) > 0 && results[0].File == file; results = results[1:] {
			if tests++; len(results[0].Failures) > 0 {
				failed++
				out.WriteString(results[0].text())
			}
		}
		if failed > 0 {
			fmt.Fprintf(&out, "FAIL  %s  %d of %s failed\n", file, failed, countTests(tests))
		} else {
			fmt.Fprintf(&out, "ok    %s  %s\n", file, countTests(tests))
		}
	}
	return out.String()
}

// FailuresText returns why tests failed, for people.
func FailuresText(results []Result) string {
	var out strings.Builder
	for _, r := range results {
		if len(r.Failures) > 0 {
			out.WriteString(r.text())
		}
	}
	return out.String()
}

// text returns why the test failed.
func (r Result) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- FAIL: %s/%s\n", r.Subject, r.Name)
	for _, failure := range r.Failures {
		fmt.Fprintf(&out, "    %s:%d: %s\n", r.File, failure.Line, indentRest(withoutMiddle(failure.Message)))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&out, "    %s\n", indentRest(withoutMiddle(note)))
	}
	return out.String()
}

// withoutMiddle shortens a long text: a hook can print anything.
func withoutMiddle(text string) string {
	const most = 16 << 10
	if len(text) <= 2*most {
		return text
	}
	return fmt.Sprintf("%s\n... (%d bytes)\n%s", text[:most], len(text)-2*most, text[len(text)-most:])
}

// Verdict returns the error for failed tests, or nil if there are none.
func Verdict(failed, all int) error {
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s failed", failed, countTests(all))
}

func countTests(n int) string {
	if n == 1 {
		return "1 test"
	}
	return fmt.Sprintf("%d tests", n)
}

// indentRest indents all lines but the first.
func indentRest(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n        ")
}

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

// JUnit returns the results as a JUnit XML report.
func JUnit(results []Result) ([]byte, error) {
	var report junitReport
	for _, r := range results {
		if len(report.Suites) == 0 || report.Suites[len(report.Suites)-1].Name != r.File {
			report.Suites = append(report.Suites, &junitSuite{Name: r.File})
		}
		suite := report.Suites[len(report.Suites)-1]
		c := junitCase{Class: r.Subject, Name: r.Name, File: r.File, Line: r.Line, Output: r.Output}
		suite.Tests++
		if len(r.Failures) > 0 {
			suite.Failures++
			first, _, _ := strings.Cut(r.Failures[0].Message, "\n")
			c.Failure = &junitFailure{Message: first}
			for _, failure := range r.Failures {
				c.Failure.Text += fmt.Sprintf("%s:%d: %s\n", r.File, failure.Line, failure.Message)
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
