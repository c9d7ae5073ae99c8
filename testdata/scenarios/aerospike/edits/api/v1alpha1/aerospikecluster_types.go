package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Heartbeat configures how nodes detect the failure of a peer.
type Heartbeat struct {
	// Interval between two heartbeats, in milliseconds.
	Interval int `json:"interval"`
}

// Keepalive of client connections.
type Keepalive struct {
	// Enabled turns TCP keepalive on.
	Enabled bool `json:"enabled"`
	// Interval between two probes, in seconds.
	Interval int `json:"interval"`
}

// AerospikeClusterSpec is the desired state of an AerospikeCluster.
type AerospikeClusterSpec struct {
	// Deployments is the number of nodes.
	Deployments int `json:"deployments"`
	// MaxMemory of a node, in GB.
	MaxMemory *int `json:"maxMemory,omitempty"`
	// MaxCPU is the number of cores a node may use.
	MaxCPU *int `json:"maxCPU,omitempty"`
	// Logging level of a node.
	Logging *string `json:"logging,omitempty"`
	// CompressionLevel of stored records.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	CompressionLevel *int `json:"compressionLevel,omitempty"`
	// ReplicationFactor is the number of copies of each record.
	ReplicationFactor int `json:"replicationFactor"`
	// StrongConsistency trades availability for consistency.
	StrongConsistency bool `json:"strongConsistency,omitempty"`
	// Heartbeat between nodes.
	Heartbeat Heartbeat `json:"heartbeat,omitzero"`
	// Keepalive of client connections.
	Keepalive Keepalive `json:"keepalive,omitzero"`
}

// AerospikeClusterStatus is the observed state of an AerospikeCluster.
type AerospikeClusterStatus struct {
	// Deployed is true when every node has its pod.
	Deployed bool `json:"deployed,omitempty"`
	// BrokenNodes is the number of nodes whose pod is not ready.
	BrokenNodes int `json:"brokenNodes,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.spec.deployments`
// +kubebuilder:printcolumn:name="Broken",type=integer,JSONPath=`.status.brokenNodes`
// +kubebuilder:printcolumn:name="Deployed",type=boolean,JSONPath=`.status.deployed`

// AerospikeCluster is a cluster of Aerospike nodes.
type AerospikeCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   AerospikeClusterSpec   `json:"spec"`
	Status AerospikeClusterStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// AerospikeClusterList is a list of AerospikeCluster.
type AerospikeClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []AerospikeCluster `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &AerospikeCluster{}, &AerospikeClusterList{})
		return nil
	})
}
