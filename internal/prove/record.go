package prove

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// Record is the evidence of one run; #Record in schemas/record.cue is its CUE
// twin. recipes/evidence holds one file for each rung that was proven.
type Record struct {
	Rung string `json:"rung"`
	// Pass is the verdict.
	Pass bool `json:"pass"`
	// Undecided says that no limit failed, but that some could not be seen. Only
	// records of existing clusters are.
	Undecided bool `json:"undecided,omitempty"`
	// Digest identifies what was proven: the recipe as it came out and the
	// rung's proof. A record whose digest is no longer the rung's is stale.
	Digest string `json:"digest"`
	// Date is the day of the run, UTC.
	Date string `json:"date"`
	// Versions of seams and of every program that ran.
	Versions map[string]string `json:"versions"`
	Machine  Machine           `json:"machine"`
	// Scale multiplied the proof's load.
	Scale float64 `json:"scale"`
	Load  Demand  `json:"load"`
	// Levels are the stock layout and the rung, in the order they ran.
	Levels []Level `json:"levels"`
	Limits []Line  `json:"limits"`
	// Remarks are what the figures should be read with: a driver that was its
	// own limit, processes that restarted.
	Remarks []string `json:"remarks"`
}

// Machine is where it ran: figures of another one are not to be compared with
// these.
type Machine struct {
	OS          string  `json:"os"`
	Arch        string  `json:"arch"`
	CPUs        int     `json:"cpus"`
	MemoryGiB   float64 `json:"memoryGiB"`
	Description string  `json:"description,omitempty"`
}

// Level is one layout under the load.
type Level struct {
	// Name is stock or rung.
	Name    string          `json:"name"`
	Rungs   []string        `json:"rungs"`
	Recipe  string          `json:"recipe"`
	Figures []scrape.Figure `json:"figures"`
	// Changes are what running on loopback changed in the rendered argv.
	Changes []string `json:"changes"`
}

// digestOf identifies a rung's proof with the recipe it is run on.
func digestOf(recipeDigest string, p *recipe.Proof) (string, error) {
	data, err := json.Marshal(struct {
		Recipe string        `json:"recipe"`
		Proof  *recipe.Proof `json:"proof"`
	}{recipeDigest, p})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// FileName is where a rung's record is kept below recipes/evidence.
func FileName(rung string) string { return strings.ReplaceAll(rung, "/", "-") + ".json" }

// Encode writes a record as it is kept: a figure or a limit a line.
func (r *Record) Encode() ([]byte, error) {
	var b bytes.Buffer
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false)
	text.SetIndent("", "  ")
	if err := text.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the record of %s: %w", r.Rung, err)
	}
	// An object that holds no other: no line within it ends by opening one. A
	// string cannot end a line that way, or hold a newline.
	leaf := regexp.MustCompile(`\{\n(?:\s+"[^\n]*[^\n\[{]\n)+\s*\}`)
	lineBreak := regexp.MustCompile(`\n\s*`)
	return leaf.ReplaceAllFunc(b.Bytes(), func(object []byte) []byte { return lineBreak.ReplaceAll(object, []byte(" ")) }), nil
}

// Records reads the records below dir, by rung. Errors: a file that is no
// record, or two of one rung.
func Records(files fs.FS, dir string) (map[string]*Record, error) {
	names, err := fs.Glob(files, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	records := map[string]*Record{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		r := &Record{}
		if err := json.Unmarshal(data, r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if r.Rung == "" || records[r.Rung] != nil {
			return nil, fmt.Errorf("%s: a record of rung %q, which is nameless or there already", name, r.Rung)
		}
		records[r.Rung] = r
	}
	return records, nil
}
