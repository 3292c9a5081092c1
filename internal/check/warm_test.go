package check

import (
	"os"
	"os/exec"
	"testing"

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
// Warm before it and without: the findings are the same.
func TestWarm(t *testing.T) {
	if mode := os.Getenv("SEAMS_TEST_WARM"); mode != "" {
		warmChild(mode == "warm")
		return
	}
	first := func(mode string) string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWarm$")
		cmd.Env = append(os.Environ(), "SEAMS_TEST_WARM="+mode)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := first("cold")
	if diff := cmp.Diff(want, first("warm")); diff != "" || want == "" {
		t.Errorf("the findings differ (-cold +warm):\n%s", diff)
	}
}

// warmChild prints what the first Check of the process finds.
func warmChild(warm bool) {
	if warm {
		Warm()
	}
	for _, f := range Check(Input{Files: warmFiles()}) {
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
