package target

import (
	"os"
	"testing"
)

// TestArchiveIsCurrent fails when a table changed without the archive of them.
func TestArchiveIsCurrent(t *testing.T) {
	want, err := Pack(os.DirFS("data"))
	if err != nil {
		t.Fatal(err)
	}
	if packed != string(want) {
		t.Error("internal/target/data.zip is stale; run go run ./hack/pack internal/target/data internal/target/data.zip")
	}
}
