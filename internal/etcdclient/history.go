package etcdclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Writes counts what was written below prefixes, deletions too, in the
// revisions after one and up to another. Every revision of the etcd is looked at,
// so that nothing is missed. Errors: some of them were compacted, or ctx ended.
func (e *Client) Writes(ctx context.Context, after, to int64, prefixes []string) (n int, err error) {
	if to <= after {
		return 0, nil
	}
	n, err = e.writes(ctx, after, to, prefixes)
	return n, e.named(err)
}

// watched is a line of the gateway's answer to a watch.
type watched struct {
	Result struct {
		Canceled bool   `json:"canceled"`
		Reason   string `json:"cancel_reason"`
		Events   []struct {
			KV KeyValue `json:"kv"`
		} `json:"events"`
	} `json:"result"`
}

func (e *Client) writes(ctx context.Context, after, to int64, prefixes []string) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a watch does not end by itself
	everything := []byte{0}
	body, err := json.Marshal(map[string]any{"create_request": map[string]any{
		"key": everything, "range_end": everything, "start_revision": fmt.Sprint(after + 1),
	}})
	if err != nil {
		return 0, err
	}
	response, err := e.post(ctx, strings.TrimSuffix(e.endpoints[0], "/")+"/v3/watch", body)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("watch revisions from %d on: %s", after+1, response.Status)
	}
	for decoder := json.NewDecoder(response.Body); ; {
		var out watched
		if err := decoder.Decode(&out); err != nil {
			return 0, fmt.Errorf("read revisions %d to %d: %w", after+1, to, err)
		}
		if out.Result.Canceled {
			return 0, fmt.Errorf("revisions %d to %d are not there any more: %s", after+1, to, out.Result.Reason)
		}
		for _, event := range out.Result.Events {
			if event.KV.ModRevision > to {
				return n, nil
			}
			if slices.ContainsFunc(prefixes, func(p string) bool { return bytes.HasPrefix(event.KV.Key, []byte(p)) }) {
				n++
			}
		}
		if k := len(out.Result.Events); k > 0 && out.Result.Events[k-1].KV.ModRevision == to {
			return n, nil
		}
	}
}
