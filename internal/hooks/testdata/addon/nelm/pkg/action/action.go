// Package action replaces the package of nelm, with which addon-operator installs charts. The
// oracle does not install charts, so all functions fail.
package action

import (
	"context"
	"errors"
	"time"

	"github.com/werf/nelm/pkg/common"
	"github.com/werf/nelm/pkg/resource"
)

var errNotSupported = errors.New("nelm is not supported")

// ErrBuildPlan is the error for a chart that cannot be installed.
var ErrBuildPlan = errors.New("build plan")

// ReleaseNotFoundError means that a release does not exist.
type ReleaseNotFoundError struct{}

func (*ReleaseNotFoundError) Error() string { return "not found" }

// The options of the functions.
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

// Status is the status of a release.
type Status string

func (s Status) String() string { return string(s) }

// Chart is the chart of a release.
type Chart struct{ Name string }

// Release is an installed chart.
type Release struct {
	Name, Namespace string
	Revision        int
	Status          Status
	StorageLabels   map[string]string
	Chart           *Chart
}

// The results of the functions.
type (
	ReleaseGetResultV1 struct {
		Release *Release
		Values  map[string]any
	}
	ReleaseListResultV1 struct{ Releases []*Release }
	ChartRenderResultV2 struct{ Resources []resource.Spec }
)

// ReleaseGet always fails, like the other functions.
func ReleaseGet(context.Context, string, string, ReleaseGetOptions) (*ReleaseGetResultV1, error) {
	return nil, errNotSupported
}

func ReleaseInstall(context.Context, string, string, ReleaseInstallOptions) error {
	return errNotSupported
}

func ReleaseUninstall(context.Context, string, string, ReleaseUninstallOptions) error {
	return errNotSupported
}

func ReleaseList(context.Context, ReleaseListOptions) (*ReleaseListResultV1, error) {
	return nil, errNotSupported
}

func ChartRender(context.Context, ChartRenderOptions) (*ChartRenderResultV2, error) {
	return nil, errNotSupported
}
