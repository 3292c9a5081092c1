package profile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/finding"
)

// runaways are programs that would go on for long, and the limit that ends them.
var runaways = map[string]struct {
	format Format
	limits Limits
	text   string
	want   string
}{
	"jsonnet-time": {Jsonnet, Limits{Time: 300 * time.Millisecond},
		`local fib(n) = if n < 2 then 1 else fib(n - 1) + fib(n - 2); {name: 'x', nodes: {count: fib(90)}}`, "after 300ms"},
	"jsonnet-loop": {Jsonnet, Limits{Time: 300 * time.Millisecond},
		`local f(n) = f(n + 1) tailstrict; {name: 'x', nodes: {count: f(0)}}`, "after 300ms"},
	"jsonnet-stack": {Jsonnet, Limits{},
		`local f(n) = f(n + 1) tailstrict; {name: 'x', nodes: {count: f(0)}}`, "at 200 MiB of stack"},
	"jsonnet-stack-of-two": {Jsonnet, Limits{},
		`local f(n) = g(n + 1) tailstrict, g(n) = f(n) tailstrict; {name: 'x', nodes: {count: f(0)}}`, "at 200 MiB of stack"},
	"jsonnet-memory": {Jsonnet, Limits{HeapBytes: 64 << 20},
		`{name: 'x', nodes: std.makeArray(30000000, function(i) i)}`, "at 64 MiB of memory"},
	"jsonnet-output": {Jsonnet, Limits{HeapBytes: 64 << 20},
		`{name: std.repeat('x', 200000000), nodes: {count: 5}}`, "at 64 MiB of memory"},
	"cue-time": {CUE, Limits{Time: 300 * time.Millisecond},
		"import \"list\"\nname: \"x\"\nnodes: count: list.Sum([for a in list.Range(0, 3000, 1) for b in list.Range(0, 3000, 1) {a * b}])\n", "after 300ms"},
	"cue-memory": {CUE, Limits{HeapBytes: 64 << 20},
		"import \"list\"\nname: \"x\"\nnodes: count: len(list.Range(0, 900000, 1))\n", "at 64 MiB of memory"},
}

// TestRunaway expects one finding of each runaway, soon. The evaluation itself
// cannot be ended, so each runs in a process of its own.
func TestRunaway(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range runaways {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program, "-test.run=^TestRunawayProcess$")
			cmd.Env = append(os.Environ(), "PROFILE_RUNAWAY="+name)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := fmt.Sprintf("p.%s: error: evaluation was stopped %s; look for a recursion without an end, or an output without one [profile-runaway]\n", test.format, test.want)
			if got := string(out); got != want {
				t.Errorf("findings\n%swant\n%s", got, want)
			}
		})
	}
}

// TestRunawayProcess is the other process of TestRunaway.
func TestRunawayProcess(t *testing.T) {
	name := os.Getenv("PROFILE_RUNAWAY")
	if name == "" {
		t.Skip("run by TestRunaway")
	}
	test := runaways[name]
	l := memoryLoader(map[string]string{"/w/p." + string(test.format): test.text})
	l.Limits = test.limits
	got, found, err := l.Load(context.Background(), Options{Path: "p." + string(test.format)})
	fmt.Print(lines(found))
	// The loader goes on, with a schema of its own.
	l.Limits = Limits{}
	good, bad, err2 := l.Load(context.Background(), Options{Path: "-", Stdin: strings.NewReader("name: x\nnodes: {count: 5}\n")})
	if err != nil || len(got) > 0 || err2 != nil || len(good) != 1 || len(bad) > 0 {
		fmt.Println(len(got), err, len(good), err2)
	}
	os.Exit(0)
}

// TestHostile gives texts that are made to break parsers, and expects an error
// that is neither a crash nor a flood.
func TestHostile(t *testing.T) {
	big := strings.Repeat("x: 1\n", 1<<20)
	tests := map[string]struct {
		format Format
		text   string
		code   string
	}{
		"large YAML":       {YAML, "# " + strings.Repeat("x", 5<<20), CodeTooLarge},
		"large CUE":        {CUE, big, CodeTooLarge},
		"large JSON":       {JSON, big, CodeTooLarge},
		"large Jsonnet":    {Jsonnet, big, CodeTooLarge},
		"UTF-16":           {YAML, "\xff\xfen\x00a\x00", CodeNotText},
		"UTF-16 BE":        {CUE, "\xfe\xff\x00n", CodeNotText},
		"Latin-1":          {YAML, "name: caf\xe9\n", CodeNotText},
		"binary":           {JSON, "\x7fELF\x02\x01\x00", CodeNotText},
		"CUE sum":          {CUE, "name: \"x\", nodes: count: 1" + strings.Repeat("+1", 1<<19), CodeTooLarge},
		"CUE unary":        {CUE, "name: " + strings.Repeat("!", 1<<20) + "true", CodeTooLarge},
		"CUE nested":       {CUE, strings.Repeat("a: ", 1<<18) + "1", CodeTooDeep},
		"CUE interpolated": {CUE, strings.Repeat("\"\\(", 1<<17), CodeTooDeep},
		"CUE brackets":     {CUE, strings.Repeat("{a:", 1<<16), CodeTooDeep},
		"Jsonnet sum":      {Jsonnet, "1" + strings.Repeat("+1", 1<<19), CodeTooLarge},
		"Jsonnet unary":    {Jsonnet, strings.Repeat("!", 1<<20) + "true", CodeTooLarge},
		"Jsonnet brackets": {Jsonnet, strings.Repeat("[", 1<<20), CodeTooDeep},
		"Jsonnet quotes":   {Jsonnet, strings.Repeat("'", 1<<20), CodeTooLarge},
		"JSON brackets":    {JSON, strings.Repeat("[", 1<<20), CodeSyntax},
		"JSON objects":     {JSON, strings.Repeat(`{"a":`, 1<<18), CodeSyntax},
		"YAML brackets":    {YAML, strings.Repeat("[", 1<<20), CodeSyntax},
		"YAML dashes":      {YAML, strings.Repeat("- ", 1<<20), CodeSyntax},
		"YAML indent":      {YAML, stairs(1500), CodeTooDeep},
		"YAML documents":   {YAML, strings.Repeat("---\nx\n", 20_000), CodeTooLarge},
		"JSON documents":   {JSON, strings.Repeat("1 ", 20_000), CodeTooLarge},
		"YAML keys":        {YAML, strings.Repeat("? [a]\n: b\n", 10), CodeSyntax},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := loadText(t, test.format, test.text)
			if len(got) > 0 || len(found) == 0 {
				t.Fatalf("%d profiles, %d findings", len(got), len(found))
			}
			last := found[0]
			for _, f := range found {
				if f.Code == test.code {
					last = f
				}
				if len(f.String()) > 600 {
					t.Errorf("a finding of %d bytes: %.200s", len(f.String()), f)
				}
			}
			if last.Code != test.code || last.Severity != finding.Error {
				t.Errorf("findings (want %s):\n%.2000s", test.code, lines(found))
			}
			if len(found) > 20_000 {
				t.Errorf("%d findings", len(found))
			}
		})
	}
}

// TestTokenLimitHolds evaluates the deepest programs that the default limit of
// tokens lets through: they must not overflow a stack, which nothing recovers.
func TestTokenLimitHolds(t *testing.T) {
	n := Limits{}.withDefaults().Tokens/2 - 20
	for format, text := range map[Format]string{
		CUE:     "name: \"x\", nodes: count: 1" + strings.Repeat("+1", n),
		Jsonnet: "{name: 'x', nodes: {count: 1" + strings.Repeat("+1", n) + "}}",
	} {
		t.Run(string(format), func(t *testing.T) {
			if got, found := loadText(t, format, text); len(got)+len(found) == 0 {
				t.Error("neither a profile nor a finding")
			}
		})
	}
}

func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
