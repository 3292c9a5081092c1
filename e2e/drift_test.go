package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/target"
)

// TestDriftTable holds each cell of docs/drift.md to what the tables and
// predicates say of that minor: a fact that changes has to be told.
func TestDriftTable(t *testing.T) {
	data, err := os.ReadFile("../docs/drift.md")
	if err != nil {
		t.Fatal(err)
	}
	minors := target.Minors()
	rows, told := 0, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3+len(minors) {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if rows++; rows == 1 {
			for i, v := range minors {
				if cells[2+i] != v.Line() {
					t.Errorf("column %d is %s, want %s", 2+i, cells[2+i], v.Line())
				}
			}
		}
		if rows <= 2 {
			continue
		}
		if cells[len(cells)-1] == "" {
			t.Errorf("%s: nothing fails when it changes", cells[0])
		}
		how, name, _ := strings.Cut(cells[1], " ")
		name = strings.Trim(name, "`")
		told[name] = true
		for i, v := range minors {
			want, ok := cell(v, how, name)
			if !ok {
				t.Errorf("%s: %q is nothing that this test can look up", cells[0], cells[1])
			}
			if got := cells[2+i]; got != want && how != "test" {
				t.Errorf("%s in %s: the table says %s, the code %s", cells[0], v.Line(), got, want)
			}
		}
	}
	// Predicates about kOps hang on its version and the cloud.
	for name := range (target.Target{}).Predicates() {
		if !strings.HasPrefix(name, "Kops") && !told[name] {
			t.Errorf("docs/drift.md has no row of %s", name)
		}
	}
}

// cell is what a row says of a minor.
func cell(v target.Version, how, name string) (string, bool) {
	yes := map[bool]string{true: "yes", false: "no"}
	switch how {
	case "predicate":
		is, ok := target.Target{Kubernetes: v}.Predicates()[name]
		return yes[is], ok
	case "gate":
		g, ok := target.FindGate(v, name)
		if !ok {
			return "-", len(target.GateMinors(name)) > 0
		}
		text := g.Stage + " " + map[bool]string{true: "on", false: "off"}[g.Default]
		if g.Locked {
			text += " locked"
		}
		return text, true
	case "flag":
		component, flag, ok := strings.Cut(name, " --")
		table, known := target.Flags(v, component)
		if !ok || !known {
			return "", false
		}
		_, is := table.Find(flag)
		return yes[is], true
	case "etcd":
		return target.EtcdVersion(v), true
	case "test":
		return "", true
	}
	return "", false
}
