package grafana

import (
	"fmt"
	"strings"
)

// rate returns a query for the rate of a counter, by labels.
func rate(counter string, by ...string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s{%s}[$__rate_interval]))", strings.Join(by, ", "), counter, selector)
}

// sum returns a query for a gauge, by labels.
func sum(gauge string, by ...string) string {
	return fmt.Sprintf("sum by (%s) (%s{%s})", strings.Join(by, ", "), gauge, selector)
}

// quantiles returns lines with the median, the 90th and the 99th percentile of a histogram, by a label.
func quantiles(histogram, by string) []line {
	var lines []line
	for _, q := range []struct{ value, name string }{{"0.5", "p50"}, {"0.9", "p90"}, {"0.99", "p99"}} {
		lines = append(lines, line{fmt.Sprintf("histogram_quantile(%s, sum by (le, %s) (rate(%s_bucket{%s}[$__rate_interval])))", q.value, by, histogram, selector),
			fmt.Sprintf("%s {{%s}}", q.name, by)})
	}
	return lines
}

// controllerRuntime is the dashboard of the metrics that controller-runtime and client-go export.
func controllerRuntime(project string) dashboard {
	return newDashboard(uid(project, "controllers"), project+" / controllers", "What the controllers and the webhooks of "+project+" do",
		"controller_runtime_reconcile_total", []row{
			{"Controllers", []graph{
				{"Reconciliations", "How often each controller reconciles an object, by result", "ops",
					[]line{{rate("controller_runtime_reconcile_total", "controller", "result"), "{{controller}} {{result}}"}}},
				{"Errors", "Failed reconciliations, terminal ones that are not repeated, and panics", "ops",
					[]line{{rate("controller_runtime_reconcile_errors_total", "controller"), "{{controller}}"},
						{rate("controller_runtime_terminal_reconcile_errors_total", "controller"), "{{controller}} terminal"},
						{rate("controller_runtime_reconcile_panics_total", "controller"), "{{controller}} panics"}}},
				{"Duration of reconciliations", "How long one reconciliation takes", "s", quantiles("controller_runtime_reconcile_time_seconds", "controller")},
				{"Workers", "Busy workers, and how many there are. If all are busy, objects wait", "short",
					[]line{{sum("controller_runtime_active_workers", "controller"), "{{controller}} busy"},
						{sum("controller_runtime_max_concurrent_reconciles", "controller"), "{{controller}} all"}}},
			}},
			{"Queues", []graph{
				{"Objects in the queue", "Objects that wait for a worker", "short", []line{{sum("workqueue_depth", "name"), "{{name}}"}}},
				{"Objects added to the queue", "Events and repetitions", "ops",
					[]line{{rate("workqueue_adds_total", "name"), "{{name}}"}, {rate("workqueue_retries_total", "name"), "{{name}} repeated"}}},
				{"Time in the queue", "How long an object waits for a worker", "s", quantiles("workqueue_queue_duration_seconds", "name")},
				{"Time at work", "How long a worker needs for an object of the queue", "s", quantiles("workqueue_work_duration_seconds", "name")},
				{"Longest running reconciliation", "A value that grows without end is a reconciliation that hangs", "s",
					[]line{{fmt.Sprintf("max by (name) (workqueue_longest_running_processor_seconds{%s})", selector), "{{name}}"}}},
				{"Unfinished work", "How long all running reconciliations run together", "s",
					[]line{{sum("workqueue_unfinished_work_seconds", "name"), "{{name}}"}}},
			}},
			{"API server", []graph{
				{"Requests to the API server", "Requests of the manager, by method and status", "ops",
					[]line{{rate("rest_client_requests_total", "method", "code"), "{{method}} {{code}}"}}},
				{"Leader", "1 for the replica that leads", "short", []line{{sum("leader_election_master_status", "pod"), "{{pod}}"}}},
			}},
			{"Webhooks", []graph{
				{"Webhook requests", "Requests of the API server, by status", "ops",
					[]line{{rate("controller_runtime_webhook_requests_total", "webhook", "code"), "{{webhook}} {{code}}"}}},
				{"Duration of webhook requests", "How long the API server waits for an answer", "s", quantiles("controller_runtime_webhook_latency_seconds", "webhook")},
			}},
		})
}

// process is the dashboard of the metrics of the manager's process.
func process(project string) dashboard {
	return newDashboard(uid(project, "process"), project+" / process", "The resources that the manager of "+project+" uses",
		"process_cpu_seconds_total", []row{{"Process", []graph{
			{"CPU", "Used cores", "short", []line{{rate("process_cpu_seconds_total", "pod"), "{{pod}}"}}},
			{"Memory", "Resident memory, and the heap of Go", "bytes",
				[]line{{sum("process_resident_memory_bytes", "pod"), "{{pod}}"}, {sum("go_memstats_heap_inuse_bytes", "pod"), "{{pod}} heap"}}},
			{"Goroutines", "A number that grows without end is a leak", "short", []line{{sum("go_goroutines", "pod"), "{{pod}}"}}},
			{"Garbage collection", "The longest pause", "s", []line{{fmt.Sprintf(`max by (pod) (go_gc_duration_seconds{quantile="1", %s})`, selector), "{{pod}}"}}},
			{"Open files", "File descriptors, and their limit", "short",
				[]line{{sum("process_open_fds", "pod"), "{{pod}}"}, {sum("process_max_fds", "pod"), "{{pod}} limit"}}},
			{"Network", "Received and sent bytes", "Bps",
				[]line{{rate("process_network_receive_bytes_total", "pod"), "{{pod}} received"},
					{rate("process_network_transmit_bytes_total", "pod"), "{{pod}} sent"}}},
		}}})
}

// uid returns the identifier of a dashboard in Grafana, which has at most 40 characters.
func uid(project, name string) string {
	return project[:min(len(project), 40-len(name)-1)] + "-" + name
}
