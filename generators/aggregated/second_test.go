package aggregated_test

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// second is a plan whose tiers are served by a second kube-apiserver.
func second(minor, hosts int, form string) *plan.Plan {
	platform := target.Kubeadm
	if form == plan.WorkloadForm {
		platform = target.Kind
	}
	p := plantest.Aggregated(target.Target{Kubernetes: plantest.Version(minor), Platform: platform}, hosts, form)
	for i := range p.Aggregated {
		p.Aggregated[i].Server, p.Aggregated[i].Image = target.KubeAPIServer, ""
	}
	return p
}

func named(t *testing.T, all []file.File, path string) string {
	t.Helper()
	i := slices.IndexFunc(all, func(f file.File) bool { return f.Path == path })
	if i < 0 {
		t.Fatalf("no %s", path)
	}
	return string(all[i].Data)
}

// A second kube-apiserver has flags that kube-apiserver knows, in every minor,
// and is not taken for one of the cluster's own.
func TestSecondServerIsChecked(t *testing.T) {
	for _, v := range target.Minors() {
		for _, form := range []string{plan.StaticForm, plan.WorkloadForm} {
			p := second(v.Minor, 3, form)
			for _, f := range check.Check(check.Input{Files: files(t, p), Target: p.Target}) {
				if f.Severity != finding.Info {
					t.Errorf("%s, %s: %s", v.Line(), form, f)
				}
			}
		}
	}
}

// It runs upstream's image, has no use for the image recipe, and asks the
// cluster: each question at the address of its own file.
func TestSecondServerAsks(t *testing.T) {
	for form, main := range map[string]string{plan.StaticForm: "https://10.0.0.11:6443", plan.WorkloadForm: "https://kubernetes.default.svc"} {
		p := second(37, 1, form)
		all := files(t, p)
		configs := map[string]string{}
		if form == plan.StaticForm {
			for _, name := range []string{"tokens.kubeconfig", "rights.kubeconfig"} {
				configs[name] = named(t, all, "aggregated/agents-example-dev/"+name)
			}
		} else {
			for doc := range strings.SplitSeq(named(t, all, "aggregated/agents-example-dev/objects.yaml"), "\n---\n") {
				var m struct {
					Kind string
					Data map[string]string
				}
				if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
					t.Fatal(err)
				}
				if m.Kind == "ConfigMap" {
					configs = m.Data
				}
			}
		}
		for name, path := range map[string]string{
			"tokens.kubeconfig": "/apis/authentication.k8s.io/v1/tokenreviews", "rights.kubeconfig": "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		} {
			config, err := clientcmd.Load([]byte(configs[name]))
			if err != nil || config.Clusters["kubernetes"] == nil || config.Clusters["kubernetes"].Server != main+path {
				t.Errorf("%s: %s: %v\n%s", form, name, err, configs[name])
			}
		}
		for _, f := range all {
			if strings.HasPrefix(f.Path, "aggregated/image/") || strings.HasSuffix(f.Path, "/server.kubeconfig") {
				t.Errorf("%s: %s", form, f.Path)
			}
			if strings.Contains(string(f.Data), "apiextensions-apiserver") {
				t.Errorf("%s: %s names the other server", form, f.Path)
			}
		}
		pod := map[string]string{plan.StaticForm: "manifests/cp-1/aggregated-agents-example-dev.yaml", plan.WorkloadForm: "aggregated/agents-example-dev/workload.yaml"}[form]
		if text := named(t, all, pod); !strings.Contains(text, "image: registry.k8s.io/kube-apiserver:v1.37.") {
			t.Errorf("%s: another image\n%s", form, text)
		}
	}
}

// It may ask, and read nothing.
func TestSecondServerRights(t *testing.T) {
	p := second(37, 1, plan.StaticForm)
	objects, err := aggregated.Objects(p, p.Aggregated[0])
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, o := range append(objects, aggregated.Shared(p)...) {
		switch b := o.(type) {
		case *rbacv1.ClusterRoleBinding:
			roles = append(roles, b.RoleRef.Name)
		case *rbacv1.RoleBinding, *rbacv1.ClusterRole:
			t.Errorf("%T", o)
		}
	}
	if diff := cmp.Diff([]string{"system:auth-delegator"}, roles); diff != "" {
		t.Error(diff)
	}
}

// The script makes the key for tokens once, and puts both kubeconfigs where the
// manifest looks for them.
func TestSecondServerKeys(t *testing.T) {
	h := newHost(t)
	for _, f := range files(t, second(37, 3, plan.StaticForm)) {
		h.write(filepath.Join(h.files, f.Path), f.Data)
	}
	if out, err := h.run("A=", "init"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"sa.key", "tokens.kubeconfig", "rights.kubeconfig"} {
		if info, err := os.Stat(filepath.Join(h.dir, tierPath, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	key := string(h.read(tierPath + "/sa.key"))
	if out, err := h.run("RENEW=1"); err != nil || string(h.read(tierPath+"/sa.key")) != key {
		t.Errorf("another key for tokens: %v\n%s", err, out)
	}
}

// In pods the cluster's authorities come from where kube-apiserver shows them,
// and go into the Secret by file; nothing that is not a certificate does.
func TestSecondServerInPods(t *testing.T) {
	h := newHost(t)
	for _, f := range files(t, second(37, 1, plan.WorkloadForm)) {
		h.write(filepath.Join(h.files, f.Path), f.Data)
	}
	bin := t.TempDir()
	kubectl := `#!/bin/sh
case "$*" in
*"get configmap extension-apiserver-authentication"*) cat "$PKI/$SHOWN" ;;
*"create secret generic"*)
	for word in "$@"; do
		case $word in --from-file=*) test -s "${word#*=*=}" || exit 1; echo "${word#--from-file=}" >>"$PKI/secrets" ;; esac
	done ;;
*) cat ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(shown string) (string, error) {
		cmd := exec.Command("sh", filepath.Join(h.files, tierPath, "pki.sh"), "init")
		cmd.Env = append(os.Environ(), "PKI="+h.dir, "SHOWN="+shown, "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("ca.key"); err == nil {
		t.Fatalf("what is no certificate was taken for an authority\n%s", out)
	}
	if out, err := run("ca.crt"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	secrets := string(h.read("secrets"))
	for _, name := range []string{"client-ca.crt=", "front-proxy-ca.crt=", "sa.key=", "server.key="} {
		if !strings.Contains(secrets, name) {
			t.Errorf("no %s in\n%s", name, secrets)
		}
	}
	if err := h.verify(tierPath+"/server.crt", "aggregated/ca.crt", tierName+".seams-system.svc", x509.ExtKeyUsageServerAuth); err != nil {
		t.Error(err)
	}
}
