// Package rig is the first part of the arrow files → prove: it brings up the
// control plane that rendered static pods describe, as processes on loopback.
//
// What the manifests say is what runs: their programs, arguments, environment,
// files and probes. What cannot be so on one machine is changed, and every
// change is listed in Process.Changes:
//
//   - Each host gets an address of its own in a free 127.A.B.0/24, in the place
//     of its address, of 127.0.0.1 and of 0.0.0.0, so that ports stay as
//     rendered and several hosts stand side by side.
//   - Paths of the host lie below the rig's directory, at DIR/HOST.
//   - An apiserver writes no Endpoints of the Service kubernetes
//     (--endpoint-reconciler-type=none): its address is a loopback one, which
//     validation refuses in Endpoints, and the reconciler would fail for ever.
//   - A program that would listen on every address is told its host's.
//
// What a kubelet would do besides is left out: images, resource requests and
// limits, security contexts and priorities. All processes see one hostname, so
// that apiservers of several hosts share one identity Lease.
package rig
