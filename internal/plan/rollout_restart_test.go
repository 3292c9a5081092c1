package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// field stands in for a cluster's hosts, so that the commands of a step run as
// they stand: /etc/kubernetes is below a directory, and of kubectl there is as
// much as a restart asks for.
type field struct {
	t         *testing.T
	root, bin string
}

// shims are what the commands call. kubectl tells the old hash three times
// before the one of the manifest that is there; sleep takes no time.
var shims = map[string]string{
	"ssh": `[ "$1" = -n ] && shift
shift
sh -c "$(printf %s "$*" | sed "s#/etc/kubernetes#$ROOT#g")"`,
	"scp":     `cp "$1" "$(printf %s "${2#*:}" | sed "s#/etc/kubernetes#$ROOT#g")"`,
	"kubeadm": `sed "s/--old/--new/" "$ROOT/manifests/kube-$4.yaml" >"$ROOT/w"; mv "$ROOT/w" "$ROOT/manifests/kube-$4.yaml"`,
	"pkill":   `exit 0`,
	"pgrep":   `exit 1`,
	"sleep":   `exit 0`,
	"kubectl": `case "$*" in
*config*hash*)
	pod=$5; [ "$4" != pod ] && pod=$4
	file="$ROOT/manifests/${pod%-cp-*}.yaml"
	n=$(cat "$ROOT/asked-$pod" 2>/dev/null || echo 0); echo $((n + 1)) >"$ROOT/asked-$pod"
	if [ $n -lt 4 ]; then md5sum <"$ROOT/ran/${pod%-cp-*}.yaml"; elif [ -e "$ROOT/deaf" ]; then md5sum <"$ROOT/ran/${pod%-cp-*}.yaml"; else md5sum <"$file"; fi
	echo "hash $pod" >>"$ROOT/log" ;;
*readyz*) echo "readyz" >>"$ROOT/log" ;;
*condition=Ready*) echo "ready" >>"$ROOT/log" ;;
esac`,
}

func newField(t *testing.T, manifests map[string]string) field {
	t.Helper()
	f := field{t, t.TempDir(), t.TempDir()}
	for _, dir := range []string{"manifests", "seams", "ran"} {
		if err := os.Mkdir(filepath.Join(f.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range manifests {
		f.write(filepath.Join(f.root, "manifests", name), text)
		f.write(filepath.Join(f.root, "ran", name), text)
	}
	for name, text := range shims {
		f.write(filepath.Join(f.bin, name), "#!/bin/sh\n"+text+"\n")
	}
	return f
}

func (f field) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func (f field) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return string(data)
}

// run runs commands as a pasted block that ends at the first failure.
func (f field) run(commands []string) (string, error) {
	cmd := exec.Command("bash", "-c", "set -euo pipefail\n"+strings.Join(commands, "\n"))
	cmd.Env = append(os.Environ(), "PATH="+f.bin+":"+os.Getenv("PATH"), "ROOT="+f.root)
	cmd.Dir = f.root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const apiserverManifest = "spec:\n  containers:\n  - command:\n    - kube-apiserver\n    - --old\n"

// TestSwitchWaitsForTheNewProcess: the old apiserver answers until kubelet has
// taken the new manifest up, so readiness is asked for after that.
func TestSwitchWaitsForTheNewProcess(t *testing.T) {
	p, _ := makePlan(t, base(), "churn/events-store")
	step := p.Rollout[order(t, p, "Switch the apiserver on cp-2")[0]]
	t.Run("taken up", func(t *testing.T) {
		f := newField(t, map[string]string{"kube-apiserver.yaml": apiserverManifest})
		if out, err := f.run(step.Commands); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want := strings.Repeat("hash kube-apiserver-cp-2\n", 5) + "readyz\nready\n"
		if log := f.read("log"); log != want {
			t.Errorf("asked\n%swant\n%s", log, want)
		}
	})
	t.Run("never taken up", func(t *testing.T) {
		f := newField(t, map[string]string{"kube-apiserver.yaml": apiserverManifest, "../deaf": ""})
		if out, err := f.run(step.Commands); err == nil || !strings.Contains(out, "kubelet does not take up its manifest") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("nothing changed", func(t *testing.T) {
		f := newField(t, map[string]string{"kube-apiserver.yaml": strings.ReplaceAll(apiserverManifest, "old", "new")})
		if out, err := f.run(step.Commands); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if log, want := f.read("log"), "hash kube-apiserver-cp-2\nreadyz\nready\n"; log != want {
			t.Errorf("asked\n%swant\n%s", log, want)
		}
	})
}

// TestTogetherFails: a host on which nothing was switched ends the step, though
// it ran in the background.
func TestTogetherFails(t *testing.T) {
	p, _ := makePlan(t, base(), "churn/leases-store")
	step := p.Rollout[order(t, p, "Switch all apiservers together")[0]]
	f := newField(t, map[string]string{"kube-apiserver.yaml": apiserverManifest})
	f.write(filepath.Join(f.bin, "kubeadm"), "#!/bin/sh\necho no such phase >&2\nexit 1\n")
	if out, err := f.run(step.Commands); err == nil || strings.Contains(f.read("log"), "ready") {
		t.Errorf("%v\n%s\n%s", err, out, f.read("log"))
	}
}

// TestQuotaOnlyGrows: an etcd without the argument has its own default; one with
// as much or more, or without bound, is not even restarted.
func TestQuotaOnlyGrows(t *testing.T) {
	p, _ := makePlan(t, base(), "churn/events-store")
	step := p.Rollout[order(t, p, "Raise the quota")[0]]
	const manifest = "spec:\n  containers:\n  - command:\n    - etcd\n    - --name=cp-1\n"
	for name, c := range map[string]struct {
		has     string
		changed bool
	}{
		"nothing said": {"", true},
		"less":         {"    - --quota-backend-bytes=4294967296\n", true},
		"as much":      {"    - --quota-backend-bytes=8589934592\n", false},
		"more":         {"    - --quota-backend-bytes=17179869184\n", false},
		"quoted":       {"    - \"--quota-backend-bytes=17179869184\"\n", false},
		"no bound":     {"    - --quota-backend-bytes=-1\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, map[string]string{"etcd.yaml": manifest + c.has, "kube-apiserver.yaml": apiserverManifest})
			if out, err := f.run(step.Commands); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, want := f.read("manifests/etcd.yaml"), manifest+c.has
			if c.changed {
				want = strings.Replace(manifest, "- etcd\n", "- etcd\n    - --quota-backend-bytes=8589934592\n", 1)
			}
			if got != want || f.read("manifests/kube-apiserver.yaml") != apiserverManifest {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
