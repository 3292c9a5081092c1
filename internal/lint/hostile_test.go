package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/lint/read"
)

const line = "apiVersion: kubeadm.k8s.io/v1beta4\n"

// endless is a file of any size that is not in memory.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	for i := range n {
		p[i] = line[i%len(line)]
	}
	e.left -= int64(n)
	return n, nil
}

// bombs are files that grow while they are decoded, or are long or deep.
func bombs() map[string]string {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 14; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	head := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\n"
	block := strings.Builder{}
	for i := range 1500 {
		block.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return map[string]string{
		"laughs":           head + laughs.String(),
		"laughs of old":    strings.Replace(head, "v1beta4", "v1beta3", 1) + laughs.String(),
		"laughs of kops":   "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n" + laughs.String(),
		"laughs of kind":   "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n" + laughs.String(),
		"laughs in a list": "apiVersion: v1\nkind: List\n# kubeadm.k8s.io\nitems: []\n" + laughs.String(),
		"deep":             head + "etcd: " + strings.Repeat("[", 100000),
		"deep mapping":     head + "etcd: " + strings.Repeat("{a: ", 100000),
		"deep block":       head + block.String(),
		"dashes":           head + "etcd:\n" + strings.Repeat("- ", 100000) + "a\n",
		"values":           head + "etcd: [" + strings.Repeat("a,", read.MaxBytes/2-1000) + "a]\n",
		"a long line":      head + "# " + strings.Repeat("x", read.MaxBytes-1000) + "\n",
		"big":              head + strings.Repeat("# x\n", read.MaxBytes/4),
		"to itself":        head + "apiServer: &a\n  extraArgs: *a\n",
	}
}

// TestHostile: such files end in a finding, or in none, in bounded time and
// memory, and a good file beside them is judged as ever.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	const bad = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\nnoSuchField: 1\n"
	for name, text := range bombs() {
		start := time.Now()
		r := run(t, tree{"a.yaml": text, "z/b.yaml": bad}, Input{})
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		found := strings.Join(brief(r.Findings), "\n")
		if !strings.Contains(found, "z/b.yaml:4 error unknown-field") {
			t.Errorf("%s hides what another file has:\n%.500s", name, full(r.Findings))
		}
		if name != "a long line" && name != "laughs in a list" && !strings.Contains(found, "a.yaml:") {
			t.Errorf("%s passes without a word", name)
		}
		if strings.Contains(found, "lint-failed") {
			t.Errorf("%s: %.500s", name, full(r.Findings))
		}
	}
}

// TestUTF16: a file that no decoder reads is told for what it is.
func TestUTF16(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\xff\xfek\x00i\x00n\x00d\x00", "\xfe\xff\x00k\x00i\x00n\x00d"} {
		files := tree{"a.yaml": text}
		r := run(t, files, Input{Entries: named(files)})
		if len(r.Findings) != 1 || r.Findings[0].Code != "not-linted" || !strings.Contains(r.Findings[0].Message, "UTF-16") {
			t.Errorf("%q: %v", text, full(r.Findings))
		}
	}
}

// TestHugeFile: of a file of 10 GB no more is read than the limit.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	var reads atomicMax
	in := Input{
		Entries: entries(tree{"huge.yaml": ""}, func(name string) Entry { return Entry{Path: name} }),
		Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(&endless{10 << 30}, &reads)), nil
		},
	}
	r, err := Run(context.Background(), in)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Code != "file-too-big" {
		t.Errorf("%v %v", r.Findings, err)
	}
	if reads.n > read.MaxBytes+1 {
		t.Errorf("%d bytes read", reads.n)
	}
}

type atomicMax struct{ n int64 }

func (a *atomicMax) Write(p []byte) (int, error) { a.n += int64(len(p)); return len(p), nil }

// TestMemory: the heap does not grow with the number of files.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("lints thousands of files")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	peak := func(files int) uint64 {
		var top uint64
		in := Input{
			Entries: func(yield func(Entry, error) bool) {
				for i := range files {
					if !yield(Entry{Path: fmt.Sprintf("d%d/kubeadm.yaml", i)}, nil) {
						return
					}
				}
			},
			Open: func(name string) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader([]byte(v4 + "# " + strings.Repeat("x", 32<<10) + "\n"))), nil
			},
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := Run(context.Background(), in); err != nil {
				t.Error(err)
			}
		}()
		for {
			select {
			case <-done:
				return top
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapInuse)
			}
		}
	}
	few := peak(200)
	many := peak(3000)
	t.Logf("heap of 200 files %d MiB, of 3,000 %d MiB", few>>20, many>>20)
	if many > few+64<<20 {
		t.Errorf("the heap grows from %d to %d MiB", few>>20, many>>20)
	}
}

// TestUnreadable: what cannot be read is a finding and hides nothing.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	files := tree{"z.yaml": v4 + "noSuchField: 1\n"}
	in := Input{Entries: func(yield func(Entry, error) bool) {
		yield(Entry{Path: "dir"}, &fs.PathError{Op: "open", Path: "dir", Err: fs.ErrPermission})
		yield(Entry{Path: "gone.yaml"}, nil)
		yield(Entry{Path: "z.yaml"}, nil)
	}}
	want := "dir:0 error file-unreadable\ngone.yaml:0 error file-unreadable\nz.yaml:4 error unknown-field"
	if got := strings.Join(brief(run(t, files, in).Findings), "\n"); got != want {
		t.Errorf("got\n%s", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Input{Entries: entries(files, func(n string) Entry { return Entry{Path: n} })}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
