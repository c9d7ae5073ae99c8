package rbac

import (
	"strings"
	"sync"
)

// wellKnownKinds are kinds of CRDs that many charts use, by group. A star marks cluster-scoped ones.
// Their plurals are regular, except those after an equals sign.
const wellKnownKinds = `
autoscaling.k8s.io: VerticalPodAutoscaler
cert-manager.io: Certificate Issuer *ClusterIssuer
cilium.io: CiliumNetworkPolicy *CiliumClusterwideNetworkPolicy
external-secrets.io: ExternalSecret SecretStore *ClusterSecretStore
gateway.networking.k8s.io: *GatewayClass Gateway GRPCRoute HTTPRoute ReferenceGrant TCPRoute TLSRoute UDPRoute
keda.sh: ScaledJob ScaledObject TriggerAuthentication *ClusterTriggerAuthentication
monitoring.coreos.com: Alertmanager AlertmanagerConfig PodMonitor Probe Prometheus=prometheuses PrometheusRule
monitoring.coreos.com: ScrapeConfig ServiceMonitor ThanosRuler
networking.istio.io: DestinationRule EnvoyFilter Gateway ServiceEntry Sidecar VirtualService
policy: *PodSecurityPolicy
route.openshift.io: Route
security.istio.io: AuthorizationPolicy PeerAuthentication RequestAuthentication
security.openshift.io: *SecurityContextConstraints=securitycontextconstraints
snapshot.storage.k8s.io: VolumeSnapshot *VolumeSnapshotClass
traefik.io: IngressRoute IngressRouteTCP Middleware TLSOption
`

// wellKnownKind is the scope of a kind, and its plural unless that is regular.
type wellKnownKind struct {
	plural  string
	cluster bool
}

// wellKnown returns the kinds by their names, such as Issuer.cert-manager.io.
var wellKnown = sync.OnceValue(func() map[string]wellKnownKind {
	all := map[string]wellKnownKind{}
	for line := range strings.Lines(wellKnownKinds) {
		group, list, _ := strings.Cut(line, ": ")
		for text := range strings.FieldsSeq(list) {
			name, plural, _ := strings.Cut(text, "=")
			name, cluster := strings.CutPrefix(name, "*")
			all[name+"."+group] = wellKnownKind{plural, cluster}
		}
	}
	return all
})
