//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"example.org/memcached/test/utils"
)

// Names of objects that config/default deploys.
const (
	namespace      = "memcached-system"
	deployment     = "memcached-controller-manager"
	serviceAccount = "memcached-controller-manager"
	metricsService = "memcached-controller-manager-metrics-service"
	metricsReader  = "memcached-metrics-reader"
	metricsBinding = "memcached-e2e-metrics-reader"
)

var _ = Describe("Manager", Ordered, func() {
	BeforeAll(func() {
		if os.Getenv("E2E_CONTEXT") != "" {
			By("checking that the operator is not in use there")
			output, err := utils.Kubectl("get", "--kustomize", "config/default", "--ignore-not-found", "--output", "name")
			Expect(err).NotTo(HaveOccurred())
			Expect(output).To(BeEmpty(), "the tests would delete these objects; if you do not need them, run `make undeploy`")
		} else {
			By("removing the objects of an interrupted run")
			_, err := utils.Kubectl("delete", "namespace", namespace, "--ignore-not-found", "--timeout", "2m")
			Expect(err).NotTo(HaveOccurred())
		}

		By("creating the namespace, with the restricted pod security standard enforced")
		_, err := utils.Kubectl("create", "namespace", namespace)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(utils.Kubectl, "delete", "namespace", namespace, "--ignore-not-found")
		_, err = utils.Kubectl("label", "namespace", namespace,
			"pod-security.kubernetes.io/enforce=restricted")
		Expect(err).NotTo(HaveOccurred())

		By("deploying the CRDs, the permissions and the manager")
		DeferCleanup(utils.Run, exec.Command("make", "undeploy", "ignore-not-found=true"))
		_, err = utils.Run(exec.Command("make", "deploy", "IMG="+managerImage))
		Expect(err).NotTo(HaveOccurred())
	})

	AfterEach(func() {
		if CurrentSpecReport().Failed() {
			report("describe", "pods", "--namespace", namespace)
			report("logs", "deployment/"+deployment, "--namespace", namespace, "--tail", "200")
			report("get", "events", "--namespace", namespace, "--sort-by", ".lastTimestamp")
		}
	})

	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(time.Second)

	It("runs", func() {
		Eventually(func(g Gomega) {
			pods := managerPods(g)
			g.Expect(pods).To(HaveLen(1))
			g.Expect(pods[0].Status.Conditions).To(ContainElement(And(
				HaveField("Type", corev1.PodReady), HaveField("Status", corev1.ConditionTrue))))
		}).Should(Succeed())
	})

	It("serves metrics only to authorized clients", func() {
		_, err := utils.Kubectl("delete", "clusterrolebinding", metricsBinding, "--ignore-not-found")
		Expect(err).NotTo(HaveOccurred())
		_, err = utils.Kubectl("create", "clusterrolebinding", metricsBinding,
			"--clusterrole", metricsReader, "--serviceaccount", namespace+":"+serviceAccount)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(utils.Kubectl, "delete", "clusterrolebinding", metricsBinding, "--ignore-not-found")
		token, err := utils.Kubectl("create", "token", serviceAccount, "--namespace", namespace)
		Expect(err).NotTo(HaveOccurred())

		By("waiting until the webhooks can be reached")
		Eventually(func(g Gomega) {
			output, err := utils.Run(exec.Command("kubectl", "get", "endpointslices", "--namespace", namespace,
				"--selector", "kubernetes.io/service-name=memcached-webhook-service",
				"--output", "jsonpath={.items[*].endpoints[*].conditions.ready}"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(output).To(ContainSubstring("true"))
		}).Should(Succeed())
		// +kubebuilder:scaffold:e2e-metrics-webhooks-readiness

		address := forward("service/"+metricsService, 8443)
		Eventually(func(g Gomega) {
			status, body := get(g, "https://"+address+"/metrics", strings.TrimSpace(token))
			g.Expect(status).To(Equal(http.StatusOK), body)
			g.Expect(body).To(ContainSubstring("go_goroutines"))
		}).Should(Succeed())

		status, body := get(Default, "https://"+address+"/metrics", "")
		Expect(status).To(Or(Equal(http.StatusUnauthorized), Equal(http.StatusForbidden)), body)
	})

	Describe("the validation of Memcached (cache.example.org/v1alpha1)", cachev1alpha1MemcachedValidation)
	// +kubebuilder:scaffold:e2e-webhooks-checks

	// Your own checks go here: create objects of your kinds with kubectl and check the
	// results.
})

// managerPods lists the pods of the manager that are not being deleted.
func managerPods(g Gomega) []corev1.Pod {
	output, err := utils.Kubectl("get", "pods", "--namespace", namespace,
		"--selector", "control-plane=controller-manager", "--output", "json")
	g.Expect(err).NotTo(HaveOccurred())
	var list corev1.PodList
	g.Expect(json.Unmarshal([]byte(output), &list)).To(Succeed())
	var pods []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp.IsZero() {
			pods = append(pods, pod)
		}
	}
	return pods
}

var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) `)

// forward forwards a local port to a workload until the spec ends, and returns the
// local address. It needs no other image in the cluster.
func forward(target string, port int) string {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "kubectl", "port-forward", "--namespace", namespace, target, fmt.Sprintf(":%d", port))
	stdout, err := cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	cmd.Stderr = GinkgoWriter
	Expect(cmd.Start()).To(Succeed())
	DeferCleanup(func() {
		cancel()
		_ = cmd.Wait() // always an error: a signal ends it
	})
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	Expect(err).NotTo(HaveOccurred(), "kubectl port-forward ended without an address")
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	address := forwarding.FindStringSubmatch(line)
	Expect(address).To(HaveLen(2), line)
	return address[1]
}

// get requests url with the bearer token, if there is one. It does not verify the
// certificate, which is self-signed without cert-manager.
func get(g Gomega, url, token string) (status int, body string) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	g.Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer insecure.CloseIdleConnections()
	client := http.Client{Transport: insecure, Timeout: 10 * time.Second}
	response, err := client.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(content)
}

// report adds the output of a kubectl command to the report of a failed spec.
func report(args ...string) {
	output, err := utils.Kubectl(args...)
	if err != nil {
		output = err.Error()
	}
	AddReportEntry("kubectl "+strings.Join(args, " "), output)
}
