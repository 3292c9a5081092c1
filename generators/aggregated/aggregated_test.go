package aggregated_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

func files(t *testing.T, p *plan.Plan) []file.File {
	t.Helper()
	all, err := aggregated.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func plans(minor int) []*plan.Plan {
	var all []*plan.Plan
	for _, hosts := range []int{1, 3} {
		for _, form := range []string{plan.StaticForm, plan.WorkloadForm} {
			platform := target.Kubeadm
			if form == plan.WorkloadForm {
				platform = target.Kind
			}
			all = append(all, plantest.Aggregated(target.Target{Kubernetes: plantest.Version(minor), Platform: platform}, hosts, form))
		}
	}
	return all
}

// Every object is decoded strictly and validated, and every flag of the servers
// and their etcds is known, in every minor.
func TestCheckHasNothingToSay(t *testing.T) {
	for _, v := range target.Minors() {
		for _, p := range plans(v.Minor) {
			for _, f := range check.Check(check.Input{Files: files(t, p), Target: p.Target}) {
				if f.Severity != finding.Info {
					t.Errorf("%s, %s, %d hosts: %s", v.Line(), p.Aggregated[0].Form, len(p.ControlPlane.Hosts), f)
				}
			}
		}
	}
}

// What a check of these files must not overlook is found.
func TestCheckFindsMistakes(t *testing.T) {
	for _, m := range []struct{ form, path, from, to, code string }{
		{plan.StaticForm, "manifests/cp-1/aggregated-agents-example-dev.yaml", "--etcd-prefix=", "--etcd-prefixes=", "flag-unknown"},
		{plan.StaticForm, "manifests/cp-1/aggregated-reports-example-dev.yaml", "--secure-port=9444", "--secure-port=9443", "port-conflict"},
		{plan.StaticForm, "manifests/cp-1/etcd-reports-example-dev.yaml", "/run/seams/etcd-reports-example-dev", "/var/lib/etcd-agents-example-dev", "data-dir-conflict"},
		{plan.StaticForm, "aggregated/agents-example-dev/apiservices.yaml", "groupPriorityMinimum: 1000", "groupPriorityMinimum: 0", "apiservice-invalid"},
		{plan.WorkloadForm, "aggregated/agents-example-dev/workload.yaml", "podManagementPolicy: Parallel", "podManagementPolicies: Parallel", "unknown-field"},
		{plan.WorkloadForm, "aggregated/agents-example-dev/workload.yaml", "agents-example-dev-etcd-1=https", "agents-example-dev-etcd-1=http", ""},
		{plan.WorkloadForm, "aggregated/agents-example-dev/workload.yaml", "mountPath: /var/lib/etcd", "mountPath: /var/lib/other", "data-dir-not-mounted"},
	} {
		p := plantest.Aggregated(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3, m.form)
		all := files(t, p)
		i := slices.IndexFunc(all, func(f file.File) bool { return f.Path == m.path })
		if i < 0 || !bytes.Contains(all[i].Data, []byte(m.from)) {
			t.Fatalf("%s has no %q", m.path, m.from)
		}
		all[i].Data = bytes.ReplaceAll(all[i].Data, []byte(m.from), []byte(m.to))
		found := check.Check(check.Input{Files: all, Target: p.Target})
		if m.code != "" && !slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Code == m.code }) {
			t.Errorf("%s: %q for %q: no %s among %v", m.path, m.to, m.from, m.code, found)
		}
	}
}

// An APIService is never without TLS, and has its authority only from who knows it.
func TestAPIServices(t *testing.T) {
	for _, p := range plans(37) {
		for _, f := range files(t, p) {
			if bytes.Contains(bytes.ToLower(f.Data), []byte("insecure")) && !strings.HasSuffix(f.Path, ".md") {
				t.Errorf("%s says insecure", f.Path)
			}
			if bytes.Contains(f.Data, []byte("PRIVATE KEY")) {
				t.Errorf("%s has a key in it", f.Path)
			}
		}
	}
	tier := plans(37)[0].Aggregated[0]
	s := aggregated.NewAPIService(tier, "agents.example.dev", "v1", []byte("PEM"))
	want := aggregated.APIServiceSpec{
		Group: "agents.example.dev", Version: "v1", CABundle: []byte("PEM"), GroupPriorityMinimum: 1000, VersionPriority: 100,
		Service: aggregated.ServiceReference{Namespace: "seams-system", Name: "agents-example-dev", Port: 9443},
	}
	if diff := cmp.Diff(want, s.Spec); diff != "" || s.Name != "v1.agents.example.dev" {
		t.Errorf("%s: %s", s.Name, diff)
	}
	if second := aggregated.NewAPIService(tier, "agents.example.dev", "v1beta1", nil); second.Spec.VersionPriority != s.Spec.VersionPriority {
		t.Error("versions are ordered by something else than their names")
	}
}

// The identity has the three sets of rights that the server ends without, and
// may write nothing.
func TestRights(t *testing.T) {
	for _, p := range plans(37) {
		for _, o := range aggregated.Shared(p) {
			role, ok := o.(*rbacv1.ClusterRole)
			if !ok {
				continue
			}
			for _, rule := range role.Rules {
				if diff := cmp.Diff([]string{"get", "list", "watch"}, rule.Verbs); diff != "" || slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*") {
					t.Errorf("%v", rule)
				}
			}
		}
		objects, err := aggregated.Objects(p, p.Aggregated[0])
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, o := range objects {
			switch b := o.(type) {
			case *rbacv1.ClusterRoleBinding:
				roles = append(roles, b.RoleRef.Name)
			case *rbacv1.RoleBinding:
				roles = append(roles, b.Namespace+"/"+b.RoleRef.Name)
			}
		}
		slices.Sort(roles)
		if diff := cmp.Diff([]string{"kube-system/extension-apiserver-authentication-reader", aggregated.ServerRole, "system:auth-delegator"}, roles); diff != "" {
			t.Error(diff)
		}
	}
}

// In memory a workload's etcd has one member, and what is single no budget.
func TestBudgets(t *testing.T) {
	p := plantest.Aggregated(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kind}, 3, plan.WorkloadForm)
	count := func(f string) (budgets int, text string) {
		for _, x := range files(t, p) {
			if x.Path == f {
				return bytes.Count(x.Data, []byte("kind: PodDisruptionBudget")), string(x.Data)
			}
		}
		t.Fatalf("no %s", f)
		return 0, ""
	}
	if n, _ := count("aggregated/agents-example-dev/objects.yaml"); n != 2 {
		t.Errorf("%d budgets for two servers and three members", n)
	}
	if n, _ := count("aggregated/reports-example-dev/objects.yaml"); n != 1 {
		t.Errorf("%d budgets for two servers and one member", n)
	}
	if _, text := count("aggregated/reports-example-dev/workload.yaml"); strings.Contains(text, "volumeClaimTemplates") || !strings.Contains(text, "medium: Memory") || !strings.Contains(text, "sizeLimit: 9Gi") {
		t.Errorf("an etcd in memory without its bound:\n%s", text)
	}
}

func TestFilesAreDeterministic(t *testing.T) {
	for i, p := range plans(36) {
		first := fmt.Sprint(files(t, p))
		for range 3 {
			if again := fmt.Sprint(files(t, plans(36)[i])); again != first {
				t.Fatal("two runs differ")
			}
		}
	}
}
