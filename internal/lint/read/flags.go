package read

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/target"
)

// programs are the programs whose command lines are known.
var programs = target.Components

var severalFlags = pattern.Of(`\s--?[a-zA-Z]`)

// Command reads a list of flags, one a line, or a command line as a shell or a
// unit file has it. In a list a line is the argument as it stands: spaces and
// quotes are part of it. component is the program; empty, it is told by the
// first word, or else by the flags.
func Command(name string, data []byte, component string, v target.Version) check.Command {
	c := check.Command{File: name, Component: component}
	shell := false
	first := true
	line := 0
	for raw := range bytes.Lines(data) {
		line++
		text := strings.TrimRight(string(raw), "\r\n")
		trimmed := strings.TrimSpace(text)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if first {
			first = false
			shell = !strings.HasPrefix(trimmed, "-")
			if _, rest, ok := strings.Cut(trimmed, "="); ok && envStart().MatchString(trimmed) {
				trimmed, c.Component = unquote(rest), orElse(c.Component, target.Kubelet)
			}
		}
		continued := strings.HasSuffix(trimmed, `\`)
		trimmed = strings.TrimSpace(strings.TrimSuffix(trimmed, `\`))
		var words []string
		switch {
		case shell || continued || severalFlags().MatchString(trimmed):
			words = shellWords(trimmed)
			shell = shell || continued
		default:
			words = listWords(trimmed)
		}
		for _, w := range words {
			c.Words = append(c.Words, check.Word{Text: w, Line: line})
		}
	}
	if len(c.Words) > 0 && slices.Contains(programs, path.Base(c.Words[0].Text)) {
		c.Component = orElse(c.Component, path.Base(c.Words[0].Text))
		c.Words = c.Words[1:]
	}
	if c.Component == "" {
		c.Component = guess(c.Words, v)
	}
	return c
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// listWords takes a line of a list: --name=value is one word, --name value two.
func listWords(line string) []string {
	space := strings.IndexAny(line, " \t")
	equals := strings.IndexByte(line, '=')
	if space < 0 || equals >= 0 && equals < space || !strings.HasPrefix(line, "-") {
		return []string{line}
	}
	return []string{line[:space], strings.TrimSpace(line[space:])}
}

// unquote takes one pair of quotes off.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// shellWords splits a line as a shell does, as far as quotes and backslashes go.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, word.String())
	}
	return words
}

// guess is the program that knows most of the flags, kube-apiserver first.
func guess(words []check.Word, v target.Version) string {
	best, most := target.KubeAPIServer, -1
	for _, program := range programs {
		table, ok := target.Flags(v, program)
		if !ok {
			table, ok = target.Flags(target.Version{}, program)
		}
		if !ok {
			continue
		}
		n := 0
		for _, w := range words {
			name, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
			if _, known := table.Find(name); known {
				n++
			}
		}
		if n > most {
			best, most = program, n
		}
	}
	return best
}
