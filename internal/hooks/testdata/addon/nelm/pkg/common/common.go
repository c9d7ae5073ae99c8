// Package common has the options of nelm that addon-operator uses.
package common

type (
	KubeConnectionOptions struct{ KubeContextCurrent string }
	ValuesOptions         struct{ ValuesFiles, ValuesSet []string }
	TrackingOptions       struct{ NoPodLogs, NoFinalTracking, LegacyHelmCompatibleTracking bool }

	ReleaseInstallRuntimeOptions struct {
		DefaultDeletePropagation, ReleaseStorageDriver string
		ExtraLabels, ExtraAnnotations, ReleaseLabels   map[string]string
		NoInstallStandaloneCRDs, ForceAdoption         bool
		ReleaseHistoryLimit                            int
	}
)
