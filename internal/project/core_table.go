package project

// coreGroup is a built-in API group of Kubernetes.
type coreGroup struct {
	name, domain string
	path         string // import path of its types, without the version
	module       string // of the types, if it is not k8s.io/api
	kinds        []coreKind
}

// coreKind is a row of the table. object has the fields of a minimal object after type and
// name. The default name is <kind>-sample.
type coreKind struct {
	version, kind string
	scope         scope
	object, name  string
}

type scope bool

const (
	namespaced scope = true
	cluster    scope = false
)

// unstored marks kinds whose objects are requests to the API server, such as reviews, or
// views of other objects.
const unstored = "-"

const (
	k8s = "k8s.io"
	api = "k8s.io/api/"
)

// Parts of objects that several kinds share.
const (
	podSpec = `
spec:
  containers:
    - name: main
      image: registry.k8s.io/pause
`
	podTemplate = `
  template:
    metadata:
      labels:
        app: sample
    spec:
      containers:
        - name: main
          image: registry.k8s.io/pause
`
	selected = `
spec:
  selector:
    matchLabels:
      app: sample` + podTemplate
	jobTemplate = `
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.k8s.io/pause
`
	roleRef = `
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
`
	scaleTarget = `
spec:
  maxReplicas: 2
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: sample
`
	signingRequest = `
spec:
  signerName: example.org/sample
  usages:
    - digital signature
  # base64 of a PEM block: a request for the common name "sample".
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ITUNBUUF3RVRFUE1BMEdBMVVFQXd3R2MyRnRjR3hsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowRApBUWNEUWdBRXpzdDZDWm1GTzBCK1ZrU3c0TzBBUGhSN2RleWdzejJabFppbVFMTEl0K3FnWkZnS0hkeVJEcjFOCitueGFCOVNHbGtnM3JtdlRzdGtxU3VUK2dxMkgvS0FBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSVFENGc1K2cKYTI4NTBkWk5yS1Y3N0REUUwyc1ZDdXAvamRXbXF6VkpHMlFHeVFJZ01NOTdqU2c0OHZXUnU4b3liZmQxOUFPNQpvWTdzRVlMZTlDRW9QbWxyY1BNPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
`
	podCertificate = `
spec:
  signerName: example.org/sample
  podName: sample
  podUID: 00000000-0000-0000-0000-000000000001
  serviceAccountName: default
  serviceAccountUID: 00000000-0000-0000-0000-000000000002
  nodeName: sample
  nodeUID: 00000000-0000-0000-0000-000000000003
  maxExpirationSeconds: 86400
  # base64 of a request in DER, without a name.
  stubPKCS10Request: MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM7LegmZhTtAflZEsODtAD4Ue3XsoLM9mZWYpkCyyLfqoGRYCh3ckQ69Tfp8WgfUhpZIN65r07LZKkrk/oKth/ygADAKBggqhkjOPQQDAgNIADBFAiEApnLTg3gYaSSQjQ+rxthTl374N/hINXL2+kdKXeTLNtkCIG+MZcHyjFGaqTizPbJOhbyGUEuvtBwyQfZellXlYsI8
`
	trustBundle = `
spec:
  # The certificate of a root that signed itself, valid for a hundred years.
  trustBundle: |
    -----BEGIN CERTIFICATE-----
    MIIBeTCCAR+gAwIBAgIUMpK/uasR+OQD4833Fd2m1b6EltEwCgYIKoZIzj0EAwIw
    ETEPMA0GA1UEAwwGc2FtcGxlMCAXDTI2MTEyMDEyMDkyOFoYDzIxMjYxMDI3MTIw
    OTI4WjARMQ8wDQYDVQQDDAZzYW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
    AATOy3oJmYU7QH5WRLDg7QA+FHt17KCzPZmVmKZAssi36qBkWAod3JEOvU36fFoH
    1IaWSDeua9Oy2SpK5P6CrYf8o1MwUTAdBgNVHQ4EFgQU2CF/dTFH6BQwnJxHHt1s
    pwDFnz4wHwYDVR0jBBgwFoAU2CF/dTFH6BQwnJxHHt1spwDFnz4wDwYDVR0TAQH/
    BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAyZE/7KXUkGWBwmR246QLBkdG6ngV
    l2mvd8+hmAtx3CoCIG4DPJa6QSfiTlPvdKYDP8w1kM67jmtTOphXfVUr8g5K
    -----END CERTIFICATE-----
`
)

// coreGroups has every kind that the API server of kubernetesVersion serves by default,
// which TestCoreKinds verifies. It does not have apiregistration, whose Go types are in a
// library for API servers (k8s.io/kube-aggregator).
var coreGroups = []coreGroup{
	{name: "core", path: api + "core", kinds: []coreKind{
		{"v1", "Binding", namespaced, unstored, ""},
		{"v1", "ComponentStatus", cluster, unstored, ""},
		{"v1", "ConfigMap", namespaced, "", ""},
		{"v1", "Endpoints", namespaced, "", ""},
		{"v1", "Event", namespaced, `
  namespace: default
involvedObject:
  namespace: default
`, ""},
		{"v1", "LimitRange", namespaced, "", ""},
		{"v1", "Namespace", cluster, "", ""},
		{"v1", "Node", cluster, "", ""},
		{"v1", "PersistentVolume", cluster, `
spec:
  accessModes:
    - ReadWriteOnce
  capacity:
    storage: 1Gi
  hostPath:
    path: /sample
`, ""},
		{"v1", "PersistentVolumeClaim", namespaced, `
spec:
  accessModes:
    - ReadWriteOnce
  resources:
    requests:
      storage: 1Gi
`, ""},
		{"v1", "Pod", namespaced, podSpec, ""},
		{"v1", "PodTemplate", namespaced, `
template:
  spec:
    containers:
      - name: main
        image: registry.k8s.io/pause
`, ""},
		{"v1", "ReplicationController", namespaced, `
spec:
  selector:
    app: sample` + podTemplate, ""},
		{"v1", "ResourceQuota", namespaced, "", ""},
		{"v1", "Secret", namespaced, "", ""},
		{"v1", "Service", namespaced, `
spec:
  ports:
    - port: 80
`, ""},
		{"v1", "ServiceAccount", namespaced, "", ""},
	}},
	{name: "admissionregistration", domain: k8s, path: api + "admissionregistration", kinds: []coreKind{
		{"v1", "MutatingAdmissionPolicy", cluster, `
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [samples]
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "add", path: "/metadata/labels/sample", value: "true"}]'
`, ""},
		{"v1", "MutatingAdmissionPolicyBinding", cluster, `
spec:
  policyName: sample
`, ""},
		{"v1", "MutatingWebhookConfiguration", cluster, "", ""},
		{"v1", "ValidatingAdmissionPolicy", cluster, `
spec:
  matchConstraints:
    resourceRules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [samples]
  validations:
    - expression: "true"
`, ""},
		{"v1", "ValidatingAdmissionPolicyBinding", cluster, `
spec:
  policyName: sample
  validationActions:
    - Audit
`, ""},
		{"v1", "ValidatingWebhookConfiguration", cluster, "", ""},
	}},
	{name: "apiextensions", domain: k8s, path: "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions", module: "k8s.io/apiextensions-apiserver", kinds: []coreKind{
		{"v1", "CustomResourceDefinition", cluster, `
spec:
  group: sample.example.org
  names:
    kind: Thing
    plural: things
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
`, "things.sample.example.org"},
	}},
	{name: "apps", path: api + "apps", kinds: []coreKind{
		{"v1", "ControllerRevision", namespaced, "data: {}\nrevision: 1\n", ""},
		{"v1", "DaemonSet", namespaced, selected, ""},
		{"v1", "Deployment", namespaced, selected, ""},
		{"v1", "ReplicaSet", namespaced, selected, ""},
		{"v1", "StatefulSet", namespaced, selected, ""},
	}},
	{name: "authentication", domain: k8s, path: api + "authentication", kinds: []coreKind{
		{"v1", "SelfSubjectReview", cluster, unstored, ""},
		{"v1", "TokenReview", cluster, unstored, ""},
	}},
	{name: "authorization", domain: k8s, path: api + "authorization", kinds: []coreKind{
		{"v1", "LocalSubjectAccessReview", namespaced, unstored, ""},
		{"v1", "SelfSubjectAccessReview", cluster, unstored, ""},
		{"v1", "SelfSubjectRulesReview", cluster, unstored, ""},
		{"v1", "SubjectAccessReview", cluster, unstored, ""},
	}},
	{name: "autoscaling", path: api + "autoscaling", kinds: []coreKind{
		{"v1", "HorizontalPodAutoscaler", namespaced, scaleTarget, ""},
		{"v2", "HorizontalPodAutoscaler", namespaced, scaleTarget, ""},
	}},
	{name: "batch", path: api + "batch", kinds: []coreKind{
		{"v1", "CronJob", namespaced, `
spec:
  schedule: "@daily"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: registry.k8s.io/pause
`, ""},
		{"v1", "Job", namespaced, `
spec:` + jobTemplate, ""},
	}},
	{name: "certificates", domain: k8s, path: api + "certificates", kinds: []coreKind{
		{"v1", "CertificateSigningRequest", cluster, signingRequest, ""},
		{"v1", "ClusterTrustBundle", cluster, trustBundle, ""},
		{"v1", "PodCertificateRequest", namespaced, podCertificate, ""},
	}},
	{name: "coordination", domain: k8s, path: api + "coordination", kinds: []coreKind{
		{"v1", "Lease", namespaced, "", ""},
	}},
	{name: "discovery", domain: k8s, path: api + "discovery", kinds: []coreKind{
		{"v1", "EndpointSlice", namespaced, `
addressType: IPv4
endpoints: []
`, ""},
	}},
	{name: "events", domain: k8s, path: api + "events", kinds: []coreKind{
		{"v1", "Event", namespaced, `
  namespace: default
eventTime: "2026-01-01T00:00:00.000000Z"
type: Normal
action: Sample
reason: Sample
reportingController: example.org/sample
reportingInstance: sample
regarding:
  namespace: default
`, ""},
	}},
	{name: "flowcontrol.apiserver", domain: k8s, path: api + "flowcontrol", kinds: []coreKind{
		{"v1", "FlowSchema", cluster, `
spec:
  priorityLevelConfiguration:
    name: global-default
`, ""},
		{"v1", "PriorityLevelConfiguration", cluster, `
spec:
  type: Limited
  limited:
    limitResponse:
      type: Reject
`, ""},
	}},
	{name: "networking", domain: k8s, path: api + "networking", kinds: []coreKind{
		{"v1", "IPAddress", cluster, `
spec:
  parentRef:
    resource: services
    namespace: default
    name: sample
`, "192.0.2.1"},
		{"v1", "Ingress", namespaced, `
spec:
  defaultBackend:
    service:
      name: sample
      port:
        number: 80
`, ""},
		{"v1", "IngressClass", cluster, `
spec:
  controller: example.org/sample
`, ""},
		{"v1", "NetworkPolicy", namespaced, `
spec:
  podSelector: {}
`, ""},
		{"v1", "ServiceCIDR", cluster, `
spec:
  cidrs:
    - 192.0.2.0/24
`, ""},
	}},
	{name: "node", domain: k8s, path: api + "node", kinds: []coreKind{
		{"v1", "RuntimeClass", cluster, "handler: sample\n", ""},
	}},
	{name: "policy", path: api + "policy", kinds: []coreKind{
		{"v1", "PodDisruptionBudget", namespaced, `
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: sample
`, ""},
	}},
	{name: "rbac.authorization", domain: k8s, path: api + "rbac", kinds: []coreKind{
		{"v1", "ClusterRole", cluster, "", ""},
		{"v1", "ClusterRoleBinding", cluster, roleRef, ""},
		{"v1", "Role", namespaced, "", ""},
		{"v1", "RoleBinding", namespaced, roleRef, ""},
	}},
	{name: "resource", domain: k8s, path: api + "resource", kinds: []coreKind{
		{"v1", "DeviceClass", cluster, "spec: {}\n", ""},
		{"v1", "DeviceTaintRule", cluster, `
spec:
  taint:
    key: example.org/sample
    effect: None
`, ""},
		{"v1", "ResourceClaim", namespaced, "spec: {}\n", ""},
		{"v1", "ResourceClaimTemplate", namespaced, "spec:\n  spec: {}\n", ""},
		{"v1", "ResourceSlice", cluster, `
spec:
  driver: example.org
  allNodes: true
  pool:
    name: sample
    generation: 0
    resourceSliceCount: 1
`, ""},
	}},
	{name: "scheduling", domain: k8s, path: api + "scheduling", kinds: []coreKind{
		{"v1", "PriorityClass", cluster, "value: 1\n", ""},
	}},
	{name: "storage", domain: k8s, path: api + "storage", kinds: []coreKind{
		{"v1", "CSIDriver", cluster, "spec: {}\n", ""},
		{"v1", "CSINode", cluster, "spec:\n  drivers: []\n", ""},
		{"v1", "CSIStorageCapacity", namespaced, "storageClassName: sample\n", ""},
		{"v1", "StorageClass", cluster, "provisioner: example.org/sample\n", ""},
		{"v1", "VolumeAttachment", cluster, `
spec:
  attacher: example.org
  nodeName: sample
  source:
    persistentVolumeName: sample
`, ""},
		{"v1", "VolumeAttributesClass", cluster, "driverName: example.org\nparameters:\n  sample: \"true\"\n", ""},
	}},
	{name: "storagemigration", domain: k8s, path: api + "storagemigration", kinds: []coreKind{
		{"v1", "StorageVersionMigration", cluster, `
spec:
  resource:
    group: apps
    resource: deployments
`, ""},
	}},
}
