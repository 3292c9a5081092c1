package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubeseams/seams/internal/finding"
)

// Format is how a profile is written.
type Format string

// The formats. Auto goes by the file's name, and for a stream by its content.
const (
	Auto    Format = ""
	CUE     Format = "cue"
	YAML    Format = "yaml"
	JSON    Format = "json"
	Jsonnet Format = "jsonnet"
)

// Formats lists the formats by name.
var Formats = []Format{CUE, YAML, JSON, Jsonnet}

// Options say what to load.
type Options struct {
	// Path is a file, the directory of a CUE package, or "-" for Stdin.
	Path   string
	Stdin  io.Reader
	Format Format
	// Select picks the profile inside a CUE file or package by a CUE path,
	// "clusters.east"; in the other formats, inside each document.
	Select string
	// ExtVars and ExtCode are Jsonnet's external variables, as strings and as
	// code; TLAVars and TLACode are top-level arguments.
	ExtVars, ExtCode, TLAVars, TLACode map[string]string
	// JPath lists directories that Jsonnet may import from, besides the file's own.
	JPath []string
	// Rendering makes errors of what only files need: an endpoint for several
	// hosts, address ranges with room for all nodes and pods. Without it they are
	// warnings, since the load can be estimated all the same.
	Rendering bool
	// Override replaces versions and platform after the schema's defaults and
	// before Validate.
	Override Override

	// library holds further importable files by name; see Evaluate.
	library map[string]string
}

// Loaded is one profile that satisfies #Profile.
type Loaded struct {
	Profile *Profile
	// Digest is "sha256:…" over the profile as JSON with its defaults filled in,
	// so it is the same for the same profile in any format. It is taken before
	// Override: what is rendered names its versions and platform itself.
	Digest string
	// Source is the file, with the document or field where it holds several:
	// "fleet.yaml (document 2)", "examples (agents)".
	Source string
	// Findings is what Validate says about the profile; Load's findings have them too.
	Findings []finding.Finding
	// Place is the file and line of a field by its path, or of its nearest parent;
	// or the flag that has replaced it, with line 0.
	Place func(path string) (file string, line int)
}

// Limits bound what a file may cost. The zero value of a field means the default.
type Limits struct {
	// FileBytes of one input file. Default: 4 MiB.
	FileBytes int
	// Depth of nesting. Default: 64; a profile needs 6.
	Depth int
	// Tokens of one CUE or Jsonnet file: its parsers and evaluators recurse.
	// Default: 20,000, some 3,000 lines.
	Tokens int
	// Values a YAML document may expand to through aliases. Default: 200,000.
	Values int
	// Documents in one file. Default: 10,000.
	Documents int
	// Time to evaluate one file. Default: 20 s.
	Time time.Duration
	// HeapBytes that evaluation of one file may add. Default: 1 GiB.
	HeapBytes uint64
	// Renew the CUE context after so many profiles. Default: 250.
	Renew int
}

func (l Limits) withDefaults() Limits {
	def := Limits{4 << 20, 64, 20_000, 200_000, 10_000, 20 * time.Second, 1 << 30, 250}
	set(&l.FileBytes, def.FileBytes)
	set(&l.Depth, def.Depth)
	set(&l.Tokens, def.Tokens)
	set(&l.Values, def.Values)
	set(&l.Documents, def.Documents)
	set(&l.Time, def.Time)
	set(&l.HeapBytes, def.HeapBytes)
	set(&l.Renew, def.Renew)
	return l
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Loader loads profiles, many with one compiled schema. It is for one
// goroutine at a time.
type Loader struct {
	// FS is the file system, rooted at "/".
	FS fs.FS
	// Dir is the absolute directory that relative paths start from.
	Dir    string
	Limits Limits

	// compiled outlives a load, except one that was given up: that may still be
	// writing to it.
	compiled *compiled
	// abandoned says that an evaluation was given up and goes on.
	abandoned bool
}

// Abandoned reports whether an evaluation was given up, which cannot be
// stopped: it goes on to take memory, and in the end the whole program with it.
// Whoever loads should then load no more, say what there is to say, and end.
func (l *Loader) Abandoned() bool { return l.abandoned }

// compiled is what one load leaves for the next.
type compiled struct {
	embedded embedded
	current  *schema
}

// NewLoader makes a loader over the machine's files and the working directory.
func NewLoader() (*Loader, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return &Loader{FS: os.DirFS("/"), Dir: filepath.ToSlash(dir)}, nil
}

// Load reads one file, package or stream with a loader of its own.
func Load(ctx context.Context, o Options) ([]Loaded, []finding.Finding, error) {
	l, err := NewLoader()
	if err != nil {
		return nil, nil, err
	}
	return l.Load(ctx, o)
}

// Load reads the profiles in one file, package or stream. Everything wrong with
// them is a finding, all at once and in order. A profile with problems of
// meaning (Validate's) is returned beside its findings; one that the schema
// refuses is not. Errors: the file cannot be read, or the options make no
// sense.
func (l *Loader) Load(ctx context.Context, o Options) ([]Loaded, []finding.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	src, err := l.open(o)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{loader: l.snapshot(), limits: l.Limits.withDefaults(), file: src.name, format: src.format, options: o}
	// The evaluators of CUE and Jsonnet cannot be interrupted, and go deep
	// enough to have bugs: they run beside a watch on time and memory.
	out, err := bounded(ctx, r.limits, func() (result, error) { return r.load(src) })
	if err != nil {
		return l.failed(src, err)
	}
	finding.Sort(out.findings)
	return out.loaded, out.findings, nil
}

// failed turns the end of an evaluation that did not come to a result into a
// finding, where the file is to blame.
func (l *Loader) failed(src *source, err error) ([]Loaded, []finding.Finding, error) {
	l.compiled = nil // It may be damaged, or still in use.
	f := finding.Finding{Severity: finding.Error, File: src.name, Message: err.Error()}
	if stop := (*runawayError)(nil); errors.As(err, &stop) {
		l.abandoned = true
		f.Code, f.Fix = CodeRunaway, "look for a recursion without an end, or an output without one"
	} else if crash := (*panicError)(nil); errors.As(err, &crash) {
		f.Code, f.Fix = CodeEvaluatorFailed, "this is a bug in the evaluator or in seams: write the same profile more simply, and please report it"
	} else {
		return nil, nil, fmt.Errorf("load %s: %w", src.name, err)
	}
	return nil, []finding.Finding{f}, nil
}

// result is what the reading of one source came to.
type result struct {
	loaded   []Loaded
	findings []finding.Finding
}

// snapshot is a loader for one load, with the compiled parts in common.
func (l *Loader) snapshot() *Loader {
	if l.compiled == nil {
		l.compiled = &compiled{}
	}
	copied := *l
	return &copied
}

// schema gives the compiled schema, renewing its context when it has grown.
func (l *Loader) schema() (*schema, error) {
	c := l.compiled
	if c.current != nil && c.current.uses < l.Limits.withDefaults().Renew {
		c.current.uses++
		return c.current, nil
	}
	s, err := newSchema(&c.embedded)
	if err != nil {
		return nil, err
	}
	c.current = s
	return s, nil
}
