package runbook

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Shell runs steps in the directory of a rendered rollout.
type Shell struct {
	// Dir has rollout.md and what it refers to.
	Dir string
	// Hosts are the containers by the address or name that commands call them by.
	Hosts map[string]string
	// Programs are paths by the name that commands call them by.
	Programs map[string]string
	// Env are further variables, NAME=VALUE.
	Env []string
	// Talk gets the commands' output as it comes.
	Talk io.Writer

	bin string
}

// sshShim is ssh for node containers: what follows root@HOST is the command, as
// ssh joins it, and with -n it gets no input.
const sshShim = `#!/usr/bin/env bash
set -euo pipefail
. "$(dirname "$0")/hosts"
if [[ $1 == -n ]]; then
	exec </dev/null
	shift
fi
container=$(container_of "${1#root@}")
shift
exec docker exec -i "$container" bash -c "$*"
`

// scpShim copies by tar, into a directory of a host or out of one. Patterns on
// the host's side are the host's to expand.
const scpShim = `#!/usr/bin/env bash
set -euo pipefail
. "$(dirname "$0")/hosts"
[[ $1 != -r ]] || shift
to=${!#}
for from in "${@:1:$#-1}"; do
	if [[ $from == root@*:* ]]; then
		host=${from#root@} path=
		path=${host#*:} host=${host%%:*}
		docker exec "$(container_of "$host")" bash -c "cd $(dirname "$path") && tar -cf - $(basename "$path")" | tar -C "$to" -xf -
		continue
	fi
	host=${to#root@}
	path=${host#*:} host=${host%%:*}
	tar -C "$(dirname "$from")" --owner=0 --group=0 -cf - "$(basename "$from")" |
		docker exec -i "$(container_of "$host")" tar -C "$path" -xf -
done
`

// open writes the programs that steps find first in their PATH.
func (s *Shell) open() error {
	if s.bin != "" {
		return nil
	}
	bin := filepath.Join(s.Dir, ".bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("programs of the steps: %w", err)
	}
	var hosts strings.Builder
	hosts.WriteString("container_of() {\n\tcase $1 in\n")
	for _, h := range slices.Sorted(maps.Keys(s.Hosts)) {
		fmt.Fprintf(&hosts, "\t%s) echo %s ;;\n", h, s.Hosts[h])
	}
	hosts.WriteString("\t*) echo \"no host $1\" >&2; return 1 ;;\n\tesac\n}\n")
	for name, text := range map[string]string{"ssh": sshShim, "scp": scpShim, "hosts": hosts.String()} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			return fmt.Errorf("programs of the steps: %w", err)
		}
	}
	for name, path := range s.Programs {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("programs of the steps: %w", err)
		}
	}
	s.bin = bin
	return nil
}

// Run runs commands to the first that fails. What they leave in the background
// ends with them.
func (s *Shell) Run(ctx context.Context, commands string) error {
	_, err := s.run(ctx, "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+commands)
	return err
}

// Ask runs a check and gives what it prints, standard error included; as on a
// terminal, a command that fails in the middle ends nothing.
func (s *Shell) Ask(ctx context.Context, check string) (string, error) {
	return s.run(ctx, check)
}

func (s *Shell) run(ctx context.Context, script string) (string, error) {
	if err := s.open(); err != nil {
		return "", err
	}
	var out strings.Builder
	var to io.Writer = &out
	if s.Talk != nil {
		to = io.MultiWriter(&out, s.Talk)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, to, to
	cmd.Env = append(os.Environ(), append([]string{"PATH=" + s.bin + ":" + os.Getenv("PATH")}, s.Env...)...)
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w:\n%s\n%s", err, script, out.String())
	}
	return out.String(), nil
}
