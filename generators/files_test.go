package generators_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators"
)

func TestWriterSortsAndKeepsTheFirstError(t *testing.T) {
	w := &generators.Writer{}
	w.Configs("b.yaml", map[string]int{"b": 1})
	w.Objects("a.yaml", map[string]int{"a": 1})
	files, err := w.Files()
	if err != nil || len(files) != 2 || files[0].Path != "a.yaml" || string(files[1].Data) != "b: 1\n" {
		t.Fatalf("files %v, error %v", files, err)
	}
	w.Objects("bad.yaml", make(chan int))
	w.Fail("later.yaml", errors.New("later"))
	w.Configs("c.yaml", map[string]int{"c": 1})
	if files, err := w.Files(); files != nil || err == nil || !strings.HasPrefix(err.Error(), "bad.yaml: ") {
		t.Fatalf("files %v, error %v", files, err)
	}
}
