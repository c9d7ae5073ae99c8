// Command manager runs the operator: for each object of a kind in watches.yaml, it installs a
// release of the chart of that kind. The flags are those of operator-sdk's helm-operator.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/operator-framework/helm-operator-plugins/pkg/annotation"
	"github.com/operator-framework/helm-operator-plugins/pkg/manager"
	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// options are the flags.
type options struct {
	watchesFile     string
	reconcilePeriod time.Duration
	maxConcurrent   int
	metrics         server.Options
	metricsRBAC     bool
	http2           bool
	manager         ctrl.Options
}

func main() {
	var o options
	o.bind(flag.CommandLine)
	var logging zap.Options
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	if err := o.run(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "The manager failed")
		os.Exit(1)
	}
}

func (o *options) bind(f *flag.FlagSet) {
	f.StringVar(&o.watchesFile, "watches-file", "./watches.yaml", "file with the kinds and their charts")
	f.DurationVar(&o.reconcilePeriod, "reconcile-period", time.Minute, "how often releases are compared with the cluster, unless watches.yaml says otherwise")
	f.IntVar(&o.maxConcurrent, "max-concurrent-reconciles", runtime.NumCPU(), "objects of a kind that are reconciled at the same time, unless watches.yaml says otherwise")
	f.StringVar(&o.metrics.BindAddress, "metrics-bind-address", ":8080", "address of the metrics; 0 serves none")
	f.BoolVar(&o.metrics.SecureServing, "metrics-secure", false, "serve metrics over HTTPS")
	f.BoolVar(&o.metricsRBAC, "metrics-require-rbac", false, "serve metrics only to clients that the API server authorizes")
	f.BoolVar(&o.http2, "enable-http2", false, "serve metrics over HTTP/2, too")
	f.StringVar(&o.manager.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "address of the health probes; 0 serves none")
	f.BoolVar(&o.manager.LeaderElection, "leader-elect", false, "let only one replica be active")
	f.StringVar(&o.manager.LeaderElectionID, "leader-election-id", "", "name of the Lease for leader election")
	f.StringVar(&o.manager.LeaderElectionNamespace, "leader-election-namespace", "", "namespace of the Lease (default: that of the pod)")
}

// run runs the manager until the context ends.
func (o *options) run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	list, err := watches.Load(o.watchesFile)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, o.managerOptions())
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	for _, w := range list {
		if err := o.add(w, mgr); err != nil {
			return fmt.Errorf("kind %s: %w", w.Kind, err)
		}
	}
	return mgr.Start(ctx)
}

func (o *options) managerOptions() ctrl.Options {
	m := o.manager
	m.Metrics = o.metrics
	if o.metricsRBAC {
		m.Metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	if !o.http2 { // HTTP/2 had several vulnerabilities
		m.Metrics.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	// The process ends when the manager does, so another replica need not wait for the Lease to expire.
	m.LeaderElectionReleaseOnCancel = true
	m.Client.Cache = &client.CacheOptions{Unstructured: true} // the reconciler polls objects
	m.Cache.DefaultTransform = cache.TransformStripManagedFields()
	manager.ConfigureWatchNamespaces(&m, ctrl.Log) // WATCH_NAMESPACE; default: all
	return m
}

// add adds the controller of an entry of watches.yaml to the manager.
func (o *options) add(w watches.Watch, mgr ctrl.Manager) error {
	period, workers := o.reconcilePeriod, o.maxConcurrent
	if w.ReconcilePeriod != nil {
		period = w.ReconcilePeriod.Duration
	}
	if w.MaxConcurrentReconciles != nil {
		workers = *w.MaxConcurrentReconciles
	}
	r, err := reconciler.New(
		reconciler.WithGroupVersionKind(w.GroupVersionKind),
		reconciler.WithChart(*w.Chart),
		reconciler.WithSelector(*w.Selector),
		reconciler.WithOverrideValues(w.OverrideValues),
		reconciler.SkipDependentWatches(!*w.WatchDependentResources),
		reconciler.WithReconcilePeriod(period),
		reconciler.WithMaxConcurrentReconciles(workers),
		reconciler.WithInstallAnnotations(annotation.DefaultInstallAnnotations...),
		reconciler.WithUpgradeAnnotations(annotation.DefaultUpgradeAnnotations...),
		reconciler.WithUninstallAnnotations(annotation.DefaultUninstallAnnotations...),
		reconciler.WithPauseReconcileHandler(takeOver(mgr.GetClient())),
	)
	if err != nil {
		return err
	}
	return r.SetupWithManager(mgr)
}

// imageFinalizer is the finalizer of operator-sdk's image helm-operator. The reconciler has its own.
const imageFinalizer = "helm.sdk.operatorframework.io/uninstall-release"

// takeOver removes the finalizer of the image, which may have run this operator before: nobody else
// would, and objects could not be deleted. It pauses no reconciliation.
func takeOver(c client.Client) reconciler.PauseReconcileHandlerFunc {
	return func(ctx context.Context, o *unstructured.Unstructured) (bool, error) {
		// The reconciler has added its finalizer, which is impossible if the object is being deleted.
		if o.GetDeletionTimestamp() != nil || !controllerutil.RemoveFinalizer(o, imageFinalizer) {
			return false, nil
		}
		return false, c.Update(ctx, o)
	}
}
