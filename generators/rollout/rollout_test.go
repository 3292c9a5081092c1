package rollout_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kind"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/generators/rollout"
	"github.com/kubeseams/seams/generators/staticpod"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

var generate = map[target.Platform]func(*plan.Plan) ([]file.File, []finding.Finding, error){
	target.Kubeadm: kubeadm.Generate, target.StaticPod: staticpod.Generate, target.Kind: kind.Generate,
}

func each(t *testing.T, run func(t *testing.T, p *plan.Plan, text string)) {
	for platform := range generate {
		for _, c := range plantest.Cases(platform, 37) {
			t.Run(string(platform)+"/"+c.Name, func(t *testing.T) { run(t, c.Plan, string(rollout.Render(c.Plan).Data)) })
		}
	}
}

func TestGolden(t *testing.T) {
	for platform := range generate {
		t.Run(string(platform), func(t *testing.T) {
			var files []file.File
			for _, c := range plantest.Cases(platform, 37) {
				f := rollout.Render(c.Plan)
				files = append(files, file.File{Path: c.Name + ".md", Data: f.Data})
			}
			golden.Dir(t, filepath.Join("testdata", string(platform)), files)
		})
	}
}

var fenced = regexp.MustCompile("(?s)\n```+sh\n(.*?)\n```+\n")

// Every command is one that a shell can read.
func TestCommandsParse(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	each(t, func(t *testing.T, _ *plan.Plan, text string) {
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			if out, err := exec.Command(sh, "-n", "-c", block[1]).CombinedOutput(); err != nil {
				t.Errorf("%v: %s in\n%s", err, out, block[1])
			}
		}
	})
}

var (
	copied   = regexp.MustCompile(`scp -r (.*?) root@`)
	manifest = regexp.MustCompile(`manifests(-steady)?/[^ ]*`)
)

// What the commands copy is rendered, and every manifest that is rendered gets copied.
func TestCommandsCopyWhatIsRendered(t *testing.T) {
	each(t, func(t *testing.T, p *plan.Plan, text string) {
		files, _, err := generate[p.Target.Platform](p)
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[string]bool{}
		for _, m := range copied.FindAllStringSubmatch(text, -1) {
			for name := range strings.FieldsSeq(m[1]) {
				wanted[name] = true
				if !matchesAny(t, files, name) {
					t.Errorf("%s is copied and not rendered", name)
				}
			}
		}
		if p.Target.Platform == target.Kind {
			return // its manifests are mounted
		}
		for _, f := range files {
			if !manifest.MatchString(f.Path) {
				continue
			}
			used := false
			for name := range wanted {
				ok, err := filepath.Match(name, f.Path)
				if err != nil {
					t.Fatal(err)
				}
				used = used || ok
			}
			if !used {
				t.Errorf("%s is rendered and not copied", f.Path)
			}
		}
	})
}

func matchesAny(t *testing.T, files []file.File, pattern string) bool {
	for _, f := range files {
		ok, err := filepath.Match(pattern, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if ok || strings.HasPrefix(f.Path, pattern+"/") {
			return true
		}
	}
	return false
}

// A member is added before its manifest is in place and promoted after, and
// the first one is there before kubeadm init.
func TestMembersJoinInOrder(t *testing.T) {
	p := plantest.NodeTier(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm})
	text := string(rollout.Render(p).Data)
	var order []int
	for _, mark := range []string{
		"mount /run/seams/etcd-leases",
		"manifests/cp-1/etcd-events.yaml manifests/cp-1/etcd-leases.yaml root@10.0.0.11",
		"kubeadm init --config",
		"kubeadm join --config /etc/kubernetes/seams/join-cp-2.yaml",
		"member add cp-2 --learner --peer-urls=https://10.0.0.12:2387",
		"manifests/cp-2/etcd-leases.yaml root@10.0.0.12",
		`etcdctl_leases member promote "$(etcdctl_leases member list | grep ", cp-2," | cut -d, -f1)"`,
		"kubeadm join --config /etc/kubernetes/seams/join-cp-3.yaml",
		"member add cp-3 --learner --peer-urls=https://10.0.0.13:2387",
		"manifests-steady/cp-1/etcd-leases.yaml",
		"manifests/cp-1/kube-apiserver-nodes.yaml",
		"kubeadm join --config join-worker.yaml",
	} {
		i := strings.Index(text, mark)
		if i < 0 {
			t.Fatalf("%q is missing", mark)
		}
		order = append(order, i)
	}
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			t.Errorf("step %d comes too early", i)
		}
	}
}

func TestStepsAreWrittenWhole(t *testing.T) {
	p := plantest.Stock(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kops}, 1)
	p.Rollout = []plan.Step{{Title: "Turn", Why: "Because.", Commands: []string{"echo '```'", "true"}, Check: "test 1", Expect: "one", Hazard: "Heat.", Undo: "Turn back."}}
	text := string(rollout.Render(p).Data)
	want := "### 1. Turn\n\nBecause.\n\n````sh\necho '```'\ntrue\n````\n\n**Check:**\n\n```sh\ntest 1\n```\n\n**Expect:** one\n\n**Hazard:** Heat.\n\n**Undo:** Turn back.\n"
	if !strings.Contains(text, want) {
		t.Errorf("the step is not in\n%s", text)
	}
	if strings.Contains(text, "A new cluster") {
		t.Error("kOps makes new clusters by itself")
	}
}

// Cells cannot break out of their table.
func TestTableCellsAreEscaped(t *testing.T) {
	p := plantest.Stock(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kops}, 1)
	p.Tiers[0].Audience = "a | b\nc"
	if text := string(rollout.Render(p).Data); !strings.Contains(text, `a \| b c`) {
		t.Errorf("the cell is not escaped in\n%s", text)
	}
}
