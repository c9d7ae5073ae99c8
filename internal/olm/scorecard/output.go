package scorecard

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// Text returns the tests and their results for people.
func Text(list v1alpha3.TestList) string {
	if len(list.Items) == 0 {
		return "0 tests selected\n"
	}
	var out strings.Builder
	for _, test := range list.Items {
		writeTest(&out, test)
		out.WriteByte('\n')
	}
	return out.String()
}

func writeTest(out *strings.Builder, test v1alpha3.Test) {
	fmt.Fprintf(out, "%s\nImage:      %s\n", strings.Repeat("-", 80), test.Spec.Image)
	if len(test.Spec.Entrypoint) > 0 {
		fmt.Fprintf(out, "Entrypoint: %s\n", test.Spec.Entrypoint)
	}
	if len(test.Spec.Labels) > 0 {
		out.WriteString("Labels:\n")
		for _, key := range slices.Sorted(maps.Keys(test.Spec.Labels)) {
			fmt.Fprintf(out, "\t%q:%q\n", key, test.Spec.Labels[key])
		}
	}
	if len(test.Status.Results) > 0 {
		out.WriteString("Results:\n")
	}
	for _, result := range test.Status.Results {
		if result.Name != "" {
			fmt.Fprintf(out, "\tName: %s\n", result.Name)
		}
		fmt.Fprintf(out, "\tState: %s\n\n", cmp.Or(result.State, "unknown"))
		writeLines(out, "Suggestions", result.Suggestions)
		writeLines(out, "Errors", result.Errors)
		if result.Log != "" {
			writeLines(out, "Log", strings.Split(strings.TrimSuffix(result.Log, "\n"), "\n"))
		}
		out.WriteByte('\n')
	}
}

func writeLines(out *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\t%s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(out, "\t\t%s\n", line)
	}
}

// JSON returns the tests and their results as an object of kind TestList.
func JSON(list v1alpha3.TestList) (string, error) {
	text, err := json.MarshalIndent(list, "", "  ")
	return string(text) + "\n", err
}

// The elements of a report that CI systems read.
type (
	testSuites struct {
		XMLName xml.Name    `xml:"testsuites"`
		Name    string      `xml:"name,attr"`
		Suites  []testSuite `xml:"testsuite"`
	}
	testSuite struct {
		Name       string     `xml:"name,attr"`
		Tests      int        `xml:"tests,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Failures   int        `xml:"failures,attr"`
		Errors     int        `xml:"errors,attr"`
		Properties []property `xml:"properties>property"`
		Cases      []testCase `xml:"testcase"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testCase struct {
		Name    string    `xml:"name,attr"`
		Time    time.Time `xml:"time,attr"`
		Log     string    `xml:"system-out"`
		Failure *problem  `xml:"failure"`
		Error   *problem  `xml:"error"`
	}
	problem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:",chardata"`
	}
)

// XUnit returns the results as XML, with one suite for each test.
func XUnit(list v1alpha3.TestList) (string, error) {
	report := testSuites{Name: "scorecard"}
	for i, test := range list.Items {
		report.Suites = append(report.Suites, newSuite(i, test))
	}
	text, err := xml.MarshalIndent(report, "", "  ")
	return string(text) + "\n", err
}

func newSuite(i int, test v1alpha3.Test) testSuite {
	name := test.Spec.Labels["test"]
	if name == "" {
		name = fmt.Sprintf("testsuite-%03d", i+1)
	}
	suite := testSuite{Name: name, Properties: []property{
		{"spec.image", test.Spec.Image},
		{"spec.entrypoint", strings.Join(test.Spec.Entrypoint, " ")},
		{"labels.test", name},
	}}
	if phase := test.Spec.Labels["cluster-phase"]; phase != "" {
		suite.Properties = append(suite.Properties, property{"labels.cluster-phase", phase})
	}
	for _, result := range test.Status.Results {
		c := testCase{Name: result.Name, Time: result.CreationTimestamp.Time, Log: result.Log}
		message := strings.Join(result.Errors, "\n")
		switch result.State {
		case v1alpha3.FailState:
			suite.Failures++
			c.Failure = &problem{"failure", message}
		case v1alpha3.ErrorState:
			suite.Errors++
			c.Error = &problem{"error", message}
		}
		suite.Tests++
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}
