package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/finding"
)

// overrideCases are values that users have given --etcd-servers-overrides, by
// the number of their case, with what is right to say of each: the findings,
// and words that the first fix must have.
var overrideCases = []struct {
	name  string
	value string
	want  []string // SEVERITY CODE
	fix   string
}{
	{"1 well formed", "/events#https://10.0.0.21:2379;https://10.0.0.22:2379", nil, ""},
	{"2 comma between servers", "/events#https://10.0.0.21:2379,https://10.0.0.22:2379", []string{"error override-comma-between-servers"}, "/events#https://10.0.0.21:2379;https://10.0.0.22:2379"},
	{"3 missing slash", "events#https://10.0.0.21:2379", []string{"error override-missing-slash"}, "/events#https://10.0.0.21:2379"},
	{"4 path of events", "/registry/events#http://10.0.0.21:2379", []string{"error override-registry-path"}, "/events#http://10.0.0.21:2379"},
	{"4 path of leases", "/registry/leases#https://10.0.0.21:2379", []string{"error override-registry-path"}, "coordination.k8s.io/leases#https://10.0.0.21:2379"},
	{"5 version for a group", "v1/events#https://10.0.0.21:2379", []string{"error override-version-in-key"}, "/events#"},
	{"5 core for the empty group", "core/events#https://10.0.0.21:2379", []string{"error override-wrong-group"}, "/events#"},
	{"5 leases in the core group", "/leases#https://10.0.0.21:2379", []string{"error override-wrong-group"}, "coordination.k8s.io/leases#"},
	{"5 a version in the middle", "coordination.k8s.io/v1/leases#https://10.0.0.21:2379", []string{"error override-version-in-key"}, "coordination.k8s.io/leases#"},
	{"7 a custom resource", "argoproj.io/workflows#https://10.0.0.41:2379", []string{"error override-custom-resource"}, "aggregated API server"},
	{"8 CRDs", "apiextensions.k8s.io/customresourcedefinitions#https://10.0.0.21:2379", []string{"error override-main-only"}, "remove"},
	{"8 APIServices", "apiregistration.k8s.io/apiservices#https://10.0.0.21:2379", []string{"error override-main-only"}, "remove"},
	{"9 a space", "/events#https://a.internal:2379, coordination.k8s.io/leases#https://b.internal:2379", []string{"error override-whitespace"}, "\"coordination.k8s.io/leases#"},
	{"9 quotes", "'/events#https://a.internal:2379'", []string{"error override-quotes", "error override-quotes"}, "https://a.internal:2379"},
	{"9 capitals", "/Events#https://a.internal:2379", []string{"error override-case"}, "/events#"},
	{"9 no scheme", "/events#a.internal:2379", []string{"error override-server-scheme"}, "https://a.internal:2379"},
	{"9 a space before a server", "/events#https://a.internal:2379; https://b.internal:2379", []string{"error override-whitespace"}, "https://b.internal:2379"},
	{"9 double quotes", `"/events#https://a.internal:2379"`, nil, ""},
	{"10 trailing separator", "/events#https://a.internal:2379;", []string{"error override-empty-server"}, "/events#https://a.internal:2379"},
	{"11 joined", "/events#https://a.internal:2379,coordination.k8s.io/leases#https://b.internal:2379", nil, ""},
	{"11 twice with other servers", "/events#https://a.internal:2379,/events#https://b.internal:2379", []string{"error override-duplicate"}, "keep the one"},
}

// TestOverrideCases gives each value in every form in which users have it: a
// list of flags, kubeadm's arguments and a static pod.
func TestOverrideCases(t *testing.T) {
	t.Parallel()
	forms := map[string]func(value string) (file, text string, line int){
		"flags": func(v string) (string, string, int) {
			return "apiserver.flags", "# flags\n--etcd-servers-overrides=" + v + "\n", 2
		},
		"kubeadm": func(v string) (string, string, int) {
			return "kubeadm.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.0\napiServer:\n  extraArgs:\n  - name: etcd-servers-overrides\n    value: " + quoteYAML(v) + "\n", 7
		},
		"pod": func(v string) (string, string, int) {
			return "manifests/kube-apiserver.yaml", strings.Replace(apiserverPod, "OVERRIDES", quoteYAML("--etcd-servers-overrides="+v), 1), 11
		},
	}
	for _, tc := range overrideCases {
		for form, write := range forms {
			t.Run(tc.name+" in "+form, func(t *testing.T) {
				t.Parallel()
				file, text, line := write(tc.value)
				r := run(t, tree{file: text}, Input{})
				got, fixes := []string{}, ""
				for _, f := range r.Findings {
					if !strings.HasPrefix(f.Code, "override-") {
						continue
					}
					got = append(got, f.Severity.String()+" "+f.Code)
					fixes += f.Fix + "\n"
					if f.Line != line || f.File != file {
						t.Errorf("at %s:%d, not line %d: %s", f.File, f.Line, line, f)
					}
				}
				if diff := cmp.Diff(append([]string{}, tc.want...), got); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
				}
				if !strings.Contains(fixes, tc.fix) {
					t.Errorf("no fix with %q in:\n%s", tc.fix, fixes)
				}
				others := finding.AtLeast(withoutOverrides(r.Findings), finding.Error)
				if others {
					t.Errorf("further errors:\n%s", full(r.Findings))
				}
			})
		}
	}
}

func withoutOverrides(findings []finding.Finding) []finding.Finding {
	var rest []finding.Finding
	for _, f := range findings {
		if !strings.HasPrefix(f.Code, "override-") {
			rest = append(rest, f)
		}
	}
	return rest
}

// quoteYAML writes a text in single quotes.
func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

const apiserverPod = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.37.2
    command:
    - kube-apiserver
    - OVERRIDES
    - --advertise-address=10.0.0.11
    - --etcd-servers=https://10.0.0.11:2379
    - --etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt
    - --etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt
    - --etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key
    - --secure-port=6443
    livenessProbe:
      httpGet: {host: 10.0.0.11, path: /livez, port: 6443, scheme: HTTPS}
    volumeMounts:
    - {mountPath: /etc/kubernetes/pki, name: pki, readOnly: true}
  volumes:
  - {name: pki, hostPath: {path: /etc/kubernetes/pki, type: DirectoryOrCreate}}
`
