package check

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

// warmFiles are other files than Warm judges, of the same kinds.
func warmFiles() []file.File {
	return []file.File{
		{Path: "init.yaml", Data: []byte("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {podSubnet: 10.1.0.0/16}\napiServer: {extraArgs: [{name: no-such-flag, value: \"1\"}]}\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 200\n")},
		{Path: "manifests/a.yaml", Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: A}\nspec: {containers: [{name: a, image: a}]}\n")},
	}
}

// TestWarm takes the first Check of a process, in processes of their own, with
// Warm before it and without: the findings are the same, and it takes less time.
func TestWarm(t *testing.T) {
	if mode := os.Getenv("SEAMS_TEST_WARM"); mode != "" {
		warmChild(mode == "warm")
		return
	}
	first := func(mode string) (time.Duration, string) {
		least, said := time.Duration(1<<62), ""
		for range 5 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestWarm$")
			cmd.Env = append(os.Environ(), "SEAMS_TEST_WARM="+mode)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			took, rest, _ := strings.Cut(string(out), "\n")
			d, err := time.ParseDuration(took)
			if err != nil {
				t.Fatal(err)
			}
			least, said = min(least, d), rest
		}
		return least, said
	}
	cold, want := first("cold")
	warm, got := first("warm")
	if diff := cmp.Diff(want, got); diff != "" || want == "" {
		t.Errorf("the findings differ (-cold +warm):\n%s", diff)
	}
	t.Logf("the first check takes %v, and %v once warm", cold, warm)
	if warm >= cold {
		t.Errorf("the first check takes %v, and %v once warm", cold, warm)
	}
}

// warmChild prints how long the first Check takes, and what it finds.
func warmChild(warm bool) {
	if warm {
		Warm()
	}
	begin := time.Now()
	findings := Check(Input{Files: warmFiles()})
	os.Stdout.WriteString(time.Since(begin).String() + "\n")
	for _, f := range findings {
		os.Stdout.WriteString(f.String() + "\n")
	}
	os.Exit(0)
}

// TestWarmFilesAreGood holds the cluster that Warm judges to have no error: one
// would end the judging early, and leave the rest cold.
func TestWarmFilesAreGood(t *testing.T) {
	for _, f := range warmFindings() {
		if f.Severity == finding.Error {
			t.Error(f)
		}
	}
}
