//go:build rig

package rig_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/cli"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// kwok runs as one more process, and its node becomes ready and renews a lease.
func TestExtra(t *testing.T) {
	set, err := binaries.Find("", "", "kwok")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, rig.Options{Files: render(t, "one.cue")})
	p, err := r.Extra(t.Context(), "kwok", []string{set.Path("kwok"), "--config=" + set.KwokStages(), "--kubeconfig=" + r.Kubeconfig(),
		"--manage-all-nodes=true", "--node-lease-duration-seconds=40", "--server-address=" + r.Spare() + ":10247"})
	if err != nil {
		t.Fatal(err)
	}
	p.ReadyURL = "http://" + r.Spare() + ":10247/healthz"
	p.MetricsURL = "http://" + r.Spare() + ":10247/metrics"
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	metrics(t, r, p)
	c := client(t, r, "")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "fake", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}}
	if _, err := c.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a ready node", time.Minute, func() error {
		node, err := c.CoreV1().Nodes().Get(t.Context(), "fake", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				_, err = c.CoordinationV1().Leases("kube-node-lease").Get(t.Context(), "fake", metav1.GetOptions{})
				return err
			}
		}
		return fmt.Errorf("not ready")
	})
	if _, err := r.Extra(t.Context(), "kwok", []string{"true"}); err == nil {
		t.Error("two processes of one name")
	}
	if _, err := r.Extra(t.Context(), "other", []string{"kwok"}); err == nil {
		t.Error("a program that the rig's set lacks")
	}
}

// parent, when set, makes this test program a rig's owner that waits to be
// killed.
const parent = "SEAMS_RIG_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, cli.OSStreams(), os.Args[1:])
		stop()
		os.Exit(code)
	}
	if files := os.Getenv(parent); files != "" {
		own(files)
	}
	os.Exit(m.Run())
}

// own starts the files of a directory and waits for ever.
func own(dir string) {
	files, err := rig.ReadDir(dir)
	if err == nil {
		var set binaries.Set
		if set, err = binaries.Find("", "", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"); err == nil {
			_, err = rig.Start(context.Background(), rig.Options{Files: files, Bin: set, Dir: filepath.Dir(dir)})
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	select {}
}

// Nothing outlives a rig's owner that is killed without a warning.
func TestDeathOfTheParent(t *testing.T) {
	dir := t.TempDir()
	for _, f := range render(t, "one.cue") {
		name := filepath.Join(dir, "files", f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), parent+"="+filepath.Join(dir, "files"))
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, _ := out.Read(line)
	if string(line[:n]) != "up\n" {
		t.Fatalf("the owner says %q", line[:n])
	}
	if got := children(t, dir); len(got) != 4 {
		t.Fatalf("%d processes: %v", len(got), got)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	eventually(t, "end of the children", 5*time.Second, func() error {
		if got := children(t, dir); len(got) > 0 {
			return fmt.Errorf("still there: %v", got)
		}
		return nil
	})
}

// children are the command lines that name a directory.
func children(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	for _, line := range commands(t) {
		if strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return found
}

// No key of the rig stands in a log, a command line or a list of changes.
func TestKeysStayInTheirFiles(t *testing.T) {
	r := start(t, rig.Options{Files: render(t, "one.cue")})
	var secrets [][]byte
	err := filepath.Walk(r.Dir(), func(name string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(name) != ".key" {
			return err
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
		data, err := os.ReadFile(name)
		if block, _ := pem.Decode(data); block != nil {
			// The base64 text of the middle of the key, as any copy would have it.
			text := bytes.Split(data, []byte("\n"))
			secrets = append(secrets, text[1])
		}
		return err
	})
	if err != nil || len(secrets) < 8 {
		t.Fatalf("%d keys, %v", len(secrets), err)
	}
	logs, err := filepath.Glob(filepath.Join(r.LogDir(), "*"))
	if err != nil || len(logs) != 4 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	texts := [][]byte{[]byte(strings.Join(commands(t), "\n"))}
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, data)
	}
	for _, p := range r.Processes() {
		texts = append(texts, fmt.Append(nil, p.Argv, p.Changes))
	}
	for _, text := range texts {
		for _, secret := range secrets {
			if bytes.Contains(text, secret) {
				t.Error("a key is told")
			}
		}
	}
}
