/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	// Client authentication plugins (exec, OIDC, cloud providers), so that the
	// manager also runs with the kubeconfig of a workstation.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	portv1 "example.org/harbor/api/v1"
	portv1beta1 "example.org/harbor/api/v1beta1"
	"example.org/harbor/internal/controller"
	webhookv1 "example.org/harbor/internal/webhook/v1"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	// +kubebuilder:scaffold:imports
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))

	utilruntime.Must(portv1.AddToScheme(scheme))
	utilruntime.Must(portv1beta1.AddToScheme(scheme))
	utilruntime.Must(monitoringv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	var o options
	o.bind(flag.CommandLine)
	// Production logging: JSON, level info, stack traces for errors only. The
	// --zap-* flags change it; --zap-devel gives text for a terminal.
	logging := zap.Options{Development: false}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), o.manager())
	if err != nil {
		setupLog.Error(err, "cannot create the manager")
		os.Exit(1)
	}
	warmup := &warmupManager{wrapped: mgr}
	mgr = warmup // counts the controllers that are added to it

	if err := (&controller.BerthReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "berth")
		os.Exit(1)
	}
	if err := (&controller.BerthBillingReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "berth-billing")
		os.Exit(1)
	}
	if err := (&controller.QuayReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "quay")
		os.Exit(1)
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		// The API server does not call a pod that is not ready.
		if err := mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()); err != nil {
			setupLog.Error(err, "cannot add the readiness check of the webhooks")
			os.Exit(1)
		}
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupBerthWebhookWithManager(mgr); err != nil {
			setupLog.Error(err, "cannot set up the webhooks", "webhook", "Berth")
			os.Exit(1)
		}
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupQuayWebhookWithManager(mgr); err != nil {
			setupLog.Error(err, "cannot set up the webhooks", "webhook", "Quay")
			os.Exit(1)
		}
	}
	if err := (&controller.KioskReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "kiosk")
		os.Exit(1)
	}
	if err := (&controller.DeploymentReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "deployment")
		os.Exit(1)
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupPodWebhookWithManager(mgr); err != nil {
			setupLog.Error(err, "cannot set up the webhooks", "webhook", "Pod")
			os.Exit(1)
		}
	}
	if err := (&controller.ServiceMonitorReconciler{
		Client: mgr.GetClient(),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "cannot set up the controller", "controller", "servicemonitor")
		os.Exit(1)
	}
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupServiceMonitorWebhookWithManager(mgr); err != nil {
			setupLog.Error(err, "cannot set up the webhooks", "webhook", "ServiceMonitor")
			os.Exit(1)
		}
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "cannot add the liveness check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "cannot add the readiness check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("caches", cachesFilled(warmup)); err != nil {
		setupLog.Error(err, "cannot add the readiness check of the caches")
		os.Exit(1)
	}

	setupLog.Info("starting the manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "the manager stopped")
		os.Exit(1)
	}
}

// cachesFilled fails until the caches of the manager are filled for the first time, so that
// an upgrade stops the old manager only when the new one can take over. With a conversion
// webhook, it does not wait: to fill a cache, the API server may need the webhook, and it
// does not call a pod that is not ready.
func cachesFilled(mgr *warmupManager) healthz.Checker {
	for kind := range scheme.AllKnownTypes() {
		if object, err := scheme.New(kind); err == nil {
			if _, converts := object.(conversion.Hub); converts {
				return healthz.Ping
			}
		}
	}
	var filled atomic.Bool
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second/2)
		defer cancel()
		if !filled.Load() && (mgr.pending.Load() > 0 || !mgr.GetCache().WaitForCacheSync(ctx)) {
			return errors.New("the caches are not filled")
		}
		filled.Store(true)
		return nil
	}
}

// warmupManager is a manager that counts the controllers that have not yet started to watch
// all their kinds. Until then, its cache does not contain these kinds.
type warmupManager struct {
	wrapped
	pending atomic.Int32
}

// wrapped is an interface of its own, so that code generators need not load ctrl.Manager.
type wrapped interface{ ctrl.Manager }

func (m *warmupManager) Add(r manager.Runnable) error {
	if c, ok := r.(warmupController); ok {
		m.pending.Add(1)
		r = pendingController{c, m}
	}
	return m.wrapped.Add(r)
}

type warmupController interface {
	manager.Runnable
	manager.LeaderElectionRunnable
	Warmup(context.Context) error
}

type pendingController struct {
	warmupController
	manager *warmupManager
}

// Warmup returns when the caches of all kinds that the controller watches are filled.
func (c pendingController) Warmup(ctx context.Context) error {
	err := c.warmupController.Warmup(ctx)
	if err == nil {
		c.manager.pending.Add(-1)
	}
	return err
}

// options are the flags of the manager, except for those of the logger.
type options struct {
	probeAddress            string
	leaderElection          bool
	leaderElectionNamespace string

	metricsAddress string
	metricsSecure  bool
	metricsCert    certificate

	webhookPort int
	webhookCert certificate
	http2       bool
}

// certificate contains the paths of a TLS certificate and its key, which are reloaded when
// they change. Without a directory there is no certificate.
type certificate struct {
	directory, name, key string
}

func (o *options) bind(f *flag.FlagSet) {
	f.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of the health and readiness probes")
	f.BoolVar(&o.leaderElection, "leader-elect", false,
		"elect a leader, so that only one replica of the manager is active")
	f.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the leader election Lease; required outside a cluster (default: the namespace of the pod)")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", "0",
		"address of the metrics endpoint: :8443 for HTTPS, :8080 for HTTP, 0 to switch it off")
	f.BoolVar(&o.metricsSecure, "metrics-secure", true,
		"serve metrics over HTTPS, only to clients that the API server authenticates and authorizes")
	o.metricsCert.bind(f, "metrics", "metrics server")
	f.IntVar(&o.webhookPort, "webhook-port", webhook.DefaultPort, "port of the webhook server; -1 disables it")
	o.webhookCert.bind(f, "webhook", "webhook server")
	f.BoolVar(&o.http2, "enable-http2", false, "allow HTTP/2 for the metrics and webhook servers")
}

func (c *certificate) bind(f *flag.FlagSet, prefix, server string) {
	f.StringVar(&c.directory, prefix+"-cert-path", "", "directory of the "+server+"'s certificate")
	f.StringVar(&c.name, prefix+"-cert-name", "tls.crt", "file name of the "+server+"'s certificate")
	f.StringVar(&c.key, prefix+"-cert-key", "tls.key", "file name of the "+server+"'s private key")
}

// manager returns the options of the manager.
func (o *options) manager() ctrl.Options {
	warmup := true // fill the caches before the manager becomes the leader
	return ctrl.Options{
		Scheme: scheme,
		// Without managedFields, the cache needs less memory. Updates do not remove them
		// from the API server.
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Controller:              config.Controller{EnableWarmup: &warmup},
		Metrics:                 o.metrics(),
		WebhookServer:           webhook.NewServer(o.webhook()),
		HealthProbeBindAddress:  o.probeAddress,
		LeaderElection:          o.leaderElection,
		LeaderElectionID:        "648fd844.example.org",
		LeaderElectionNamespace: o.leaderElectionNamespace,
		// The next leader does not wait until the lease expires. This is safe
		// because the process exits as soon as the manager stops.
		LeaderElectionReleaseOnCancel: true,
	}
}

func (o *options) metrics() metricsserver.Options {
	m := metricsserver.Options{
		BindAddress:   o.metricsAddress,
		SecureServing: o.metricsSecure,
		TLSOpts:       o.tls(),
		// Without a directory the server uses a self-signed certificate.
		CertDir:  o.metricsCert.directory,
		CertName: o.metricsCert.name,
		KeyName:  o.metricsCert.key,
	}
	if o.metricsSecure {
		// This needs the rules in config/rbac/metrics_auth_role.yaml.
		m.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return m
}

func (o *options) webhook() webhook.Options {
	return webhook.Options{
		Port:     o.webhookPort,
		TLSOpts:  o.tls(),
		CertDir:  o.webhookCert.directory,
		CertName: o.webhookCert.name,
		KeyName:  o.webhookCert.key,
	}
}

// tls disables HTTP/2 unless a flag enables it: a client could exhaust the server by
// opening and resetting streams (GHSA-qppj-fm5r-hxr3, GHSA-4374-p667-p6c8).
func (o *options) tls() []func(*tls.Config) {
	if o.http2 {
		return nil
	}
	return []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
}
