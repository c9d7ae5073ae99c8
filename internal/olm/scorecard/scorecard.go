// Package scorecard runs the tests of a bundle that its configuration lists: the built-in
// tests in this process, other tests as programs in images. Formats, names and verdicts are
// operator-sdk scorecard's.
//
// https://sdk.operatorframework.io/docs/testing-operators/scorecard/
package scorecard

import (
	"context"
	"path"
	"strings"
	"sync"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"k8s.io/apimachinery/pkg/labels"
)

// Select returns the stages with the tests whose labels match, and without empty stages.
// Tests have the storage of the configuration unless they set their own.
func Select(c v1alpha3.Configuration, selector labels.Selector) []v1alpha3.StageConfiguration {
	var stages []v1alpha3.StageConfiguration
	for _, stage := range c.Stages {
		var tests []v1alpha3.TestConfiguration
		for _, test := range stage.Tests {
			if !selector.Matches(labels.Set(test.Labels)) {
				continue
			}
			if test.Storage.Spec.MountPath.Path == "" {
				test.Storage = c.Storage
			}
			tests = append(tests, test)
		}
		if len(tests) > 0 {
			stages = append(stages, v1alpha3.StageConfiguration{Parallel: stage.Parallel, Tests: tests})
		}
	}
	return stages
}

// List returns the tests of the stages without results.
func List(stages []v1alpha3.StageConfiguration) v1alpha3.TestList {
	list := v1alpha3.NewTestList()
	list.Items = []v1alpha3.Test{}
	for _, stage := range stages {
		for _, test := range stage.Tests {
			item := v1alpha3.NewTest()
			item.Spec = test
			list.Items = append(list.Items, item)
		}
	}
	return list
}

// Runner runs a test and returns what it reports. A test that cannot run is a result, too.
type Runner interface {
	Run(context.Context, v1alpha3.TestConfiguration) v1alpha3.TestStatus
}

// Run runs the stages one after another, and the tests of a parallel stage at once. The
// results are in the order of the configuration.
func Run(ctx context.Context, stages []v1alpha3.StageConfiguration, builtin, image Runner) v1alpha3.TestList {
	list := List(stages)
	next := 0
	for _, stage := range stages {
		var running sync.WaitGroup
		for range stage.Tests {
			item := &list.Items[next]
			next++
			run := func() {
				runner := image
				if IsBuiltin(item.Spec) {
					runner = builtin
				}
				item.Status = runner.Run(ctx, item.Spec)
			}
			if stage.Parallel {
				running.Go(run)
			} else {
				run()
			}
		}
		running.Wait()
	}
	return list
}

// builtinProgram is the name of the program with the built-in tests and of its image.
const builtinProgram = "scorecard-test"

// IsBuiltin reports whether a test is in the image of operator-sdk's own tests, in any
// registry and version.
func IsBuiltin(test v1alpha3.TestConfiguration) bool {
	name, _, _ := strings.Cut(path.Base(strings.Split(test.Image, "@")[0]), ":")
	return name == builtinProgram && len(test.Entrypoint) > 0 && test.Entrypoint[0] == builtinProgram
}

// Counts returns how many tests there are, and how many have a result that is not a pass.
func Counts(list v1alpha3.TestList) (tests, failed int) {
	for _, test := range list.Items {
		for _, result := range test.Status.Results {
			if result.State != v1alpha3.PassState {
				failed++
				break
			}
		}
	}
	return len(list.Items), failed
}
