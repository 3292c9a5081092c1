package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// caseNumbers are the cases that there are; 6, 13, 20, 31, 38, 42 and 46 were
// never given.
var caseNumbers = []int{
	1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32, 33, 34, 35, 36, 37, 39, 40, 41,
	43, 44, 45, 47, 48,
}

var caseRow = regexp.MustCompile("(?m)^\\| (\\d+) \\| [^|]+ \\| [^|]+ \\| `([^`]+)` \\| `([^`]+)` \\|$")

// TestEveryCaseHasItsTest: each case is in the index once, and the test that
// its row names is there.
func TestEveryCaseHasItsTest(t *testing.T) {
	page, err := os.ReadFile("cases/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, m := range caseRow.FindAllStringSubmatch(string(page), -1) {
		n, _ := strconv.Atoi(m[1])
		got = append(got, n)
		source, err := os.ReadFile(filepath.Join("..", m[2]))
		if err != nil {
			t.Errorf("case %d: %v", n, err)
			continue
		}
		// A row of a table is a text, or a key of a mapping; a test of its own a function.
		if !strings.Contains(string(source), `"`+m[3]+`"`) && !strings.Contains(string(source), "\nfunc "+m[3]+"(t *testing.T)") {
			t.Errorf("case %d: %s has no %q", n, m[2], m[3])
		}
	}
	if !slices.Equal(got, caseNumbers) {
		t.Errorf("the index has the cases\n%v, want\n%v", got, caseNumbers)
	}
	for _, dir := range []string{"inputs", "profiles", "diff"} {
		if files, err := os.ReadDir(filepath.Join("cases", dir)); err != nil || len(files) == 0 {
			t.Errorf("the cases' %s: %d files, %v", dir, len(files), err)
		}
	}
}
