//go:build rig

// Package rig_test brings up rendered control planes as real processes on
// loopback. Programs that are missing are a failure, with the command that
// builds them.
package rig_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/cli"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// render renders a profile of testdata as static pods, with the program's own
// command.
func render(t *testing.T, profile string, args ...string) []file.File {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	var out, talk bytes.Buffer
	command := append([]string{"render", "-f", filepath.Join("testdata", profile), "-d", dir}, args...)
	if code := cli.Main(t.Context(), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}, command); code != 0 {
		t.Fatalf("seams %s: exit code %d\n%s", strings.Join(command, " "), code, talk.String())
	}
	files, err := rig.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// programs finds what a control plane runs.
func programs(t *testing.T) binaries.Set {
	t.Helper()
	set, err := binaries.Find("", "", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcdctl", "apiextensions-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// start starts a rig and sees to it that it leaves nothing behind.
func start(t *testing.T, options rig.Options) *rig.Rig {
	t.Helper()
	options.Bin, options.Dir, options.Log = programs(t), t.TempDir(), t.Output()
	r, err := rig.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return r
}

func stop(t *testing.T, r *rig.Rig) {
	t.Helper()
	r.Stop()
	for _, p := range r.Processes() {
		if p.Running() || alive(p.PID()) {
			t.Errorf("%s is still there", p.Name)
		}
	}
	if _, err := os.Stat(r.Dir()); !os.IsNotExist(err) && !options(r) {
		t.Errorf("%s is still there: %v", r.Dir(), err)
	}
	r.Stop()
}

// options reports whether the rig keeps its logs.
func options(r *rig.Rig) bool {
	entries, err := os.ReadDir(r.Dir())
	return err == nil && len(entries) == 1 && entries[0].Name() == "logs"
}

func alive(pid int) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	return err == nil
}

func client(t *testing.T, r *rig.Rig, name string) kubernetes.Interface {
	t.Helper()
	config := r.Config(name)
	if config == nil {
		t.Fatalf("no apiserver %q", name)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventually waits for something that other processes have to do.
func eventually(t *testing.T, what string, limit time.Duration, done func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err = done(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within %s: %v", what, limit, err)
}

// A stock control plane of one host works: the controller manager makes
// service accounts, the scheduler finds no node, metrics can be read, and all
// of it ends.
func TestOneHost(t *testing.T) {
	r := start(t, rig.Options{Files: render(t, "one.cue")})
	var names []string
	for _, p := range r.Processes() {
		names = append(names, p.Name)
	}
	want := []string{"etcd@cp-1", "kube-apiserver@cp-1", "kube-controller-manager@cp-1", "kube-scheduler@cp-1"}
	if !slices.Equal(names, want) {
		t.Fatalf("processes %v, want %v", names, want)
	}
	c := client(t, r, "")
	eventually(t, "service account of namespace default", time.Minute, func() error {
		_, err := c.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
	if _, err := c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the scheduler's word on a pod", time.Minute, func() error {
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), "waits", metav1.GetOptions{})
		if err == nil && len(pod.Status.Conditions) == 0 {
			err = fmt.Errorf("no condition")
		}
		return err
	})
	for _, p := range r.Processes() {
		metrics(t, r, p)
	}
	killed(t, r.Process("kube-scheduler@cp-1"))
	if info, err := os.Stat(r.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v", info.Mode(), err)
	}
}

// metrics reads what a process measures about itself.
func metrics(t *testing.T, r *rig.Rig, p *rig.Process) {
	t.Helper()
	c, err := r.HTTPClient(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	response, err := c.Get(p.MetricsURL)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil || response.StatusCode != 200 || !strings.Contains(body.String(), "process_resident_memory_bytes") {
		t.Errorf("%s: metrics: status %d, %d bytes, %v", p.Name, response.StatusCode, body.Len(), err)
	}
}

// killed checks that a killed process stays down and comes back when told to.
func killed(t *testing.T, p *rig.Process) {
	t.Helper()
	before := p.PID()
	p.Kill()
	if p.Running() || alive(before) {
		t.Errorf("%s survives Kill", p.Name)
	}
	if err := p.Ready(t.Context()); err == nil {
		t.Errorf("%s is ready though it is down", p.Name)
	}
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.PID() == before || !p.Running() {
		t.Errorf("%s has not come back", p.Name)
	}
}

// A cancelled start leaves nothing behind but logs.
func TestStartCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	dir := t.TempDir()
	_, err := rig.Start(ctx, rig.Options{Files: render(t, "one.cue"), Bin: programs(t), Dir: dir, Log: t.Output()})
	if err == nil || !strings.Contains(err.Error(), "logs are kept in "+dir) {
		t.Fatalf("error %v", err)
	}
	left(t, dir)
}

// left checks that only logs are left in a directory, and no process that was
// started there.
func left(t *testing.T, dir string) {
	t.Helper()
	rigs, err := os.ReadDir(dir)
	if err != nil || len(rigs) != 1 {
		t.Fatalf("directories %v, %v", rigs, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, rigs[0].Name()))
	if err != nil || len(entries) != 1 || entries[0].Name() != "logs" {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	for _, line := range commands(t) {
		if strings.Contains(line, dir) {
			t.Errorf("still there: %s", line)
		}
	}
}

// commands are the command lines of all processes.
func commands(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			lines = append(lines, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return lines
}

// A program that dies is told with its last words.
func TestFailureHasTheLastLines(t *testing.T) {
	files := render(t, "one.cue")
	for i, f := range files {
		if strings.HasSuffix(f.Path, "kube-apiserver.yaml") {
			files[i].Data = bytes.Replace(f.Data, []byte("--allow-privileged=true"), []byte("--allow-privilege=true"), 1)
		}
	}
	dir := t.TempDir()
	_, err := rig.Start(t.Context(), rig.Options{Files: files, Bin: programs(t), Dir: dir, Log: t.Output()})
	if err == nil {
		t.Fatal("a control plane with an unknown flag starts")
	}
	for _, want := range []string{"kube-apiserver@cp-1", "unknown flag: --allow-privilege", "exit status 1", "logs are kept in " + dir} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
	left(t, dir)
}
