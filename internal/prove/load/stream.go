package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// seen is what a watcher needs of an object.
type seen struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Annotations     map[string]string `json:"annotations"`
}

// event is one line of a watch.
type event struct {
	Type   string `json:"type"`
	Object struct {
		Metadata seen `json:"metadata"`
		// of a Status, in an ERROR
		Code    int    `json:"code"`
		Message string `json:"message"`
		Reason  string `json:"reason"`
	} `json:"object"`
	bytes   int  // of the line
	decoded bool // Object is filled
}

// errExpired ends a watch that must list anew: what it missed is compacted away.
var errExpired = errors.New("the watch's version is too old")

// watch reads a watch until it ends, and hands on every event. Without decode,
// only types and sizes are looked at. The server ends watches after some
// minutes: that is no error.
func (c *client) watch(ctx context.Context, path string, params map[string]string, decode bool, on func(event) error) error {
	r := c.json.Get().AbsPath(path).SetHeader("Accept", "application/json").Param("watch", "true")
	for k, v := range params {
		r = r.Param(k, v)
	}
	body, err := r.Stream(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return errExpired
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	defer body.Close()
	return readEvents(body, decode, on)
}

// readEvents reads lines: the server writes one for each event.
func readEvents(body io.Reader, decode bool, on func(event) error) error {
	lines := bufio.NewReaderSize(body, 32<<10)
	for {
		line, n, err := readLine(lines, decode)
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF // cut inside an event
		case err != nil:
			return err
		}
		e := event{Type: eventType(line)}
		// What ends a watch or says where it stands is always read.
		if decode || e.Type == "ERROR" || e.Type == "BOOKMARK" || e.Type == "" {
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("decode event: %w", err)
			}
			e.decoded = true
		}
		if e.bytes = n; e.Type == "ERROR" {
			if e.Object.Code == http.StatusGone {
				return errExpired
			}
			return fmt.Errorf("watch: %s: %s", e.Object.Reason, e.Object.Message)
		}
		if err := on(e); err != nil {
			return err
		}
	}
}

// typePrefix begins every line that kube-apiserver writes to a watch in JSON.
const typePrefix = `{"type":"`

// eventType reads the type off a line's beginning; empty when the line begins in
// another way.
func eventType(line []byte) string {
	rest, ok := bytes.CutPrefix(line, []byte(typePrefix))
	if end := bytes.IndexByte(rest, '"'); ok && end > 0 {
		return string(rest[:end])
	}
	return ""
}

// readLine reads up to a newline. Of objects that are not kept, only the
// beginning is returned; n counts all.
func readLine(r *bufio.Reader, keep bool) (line []byte, n int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if n == 0 && !keep {
			switch eventType(part) {
			case "ADDED", "MODIFIED", "DELETED":
				line = append(line, part[:min(len(part), 32)]...)
			default:
				keep = true
			}
		}
		n += len(part)
		if keep {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}

// objectList is an answered list.
type objectList struct {
	Metadata metav1.ListMeta `json:"metadata"`
	Items    []struct {
		Metadata seen `json:"metadata"`
	} `json:"items"`
}

// page reads one page of a list, and how many bytes it took.
func (c *client) page(ctx context.Context, path string, params map[string]string, limit int, from string) (l objectList, size int, err error) {
	r := c.json.Get().AbsPath(path).SetHeader("Accept", "application/json").Param("limit", strconv.Itoa(limit))
	for k, v := range params {
		r = r.Param(k, v)
	}
	if from != "" {
		r = r.Param("continue", from)
	}
	raw, err := r.Do(ctx).Raw()
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		return l, 0, fmt.Errorf("list %s: %w", path, err)
	}
	return l, len(raw), nil
}

// list reads all pages, one when limit is 0, and gives the version to watch
// from, and how many bytes it took.
func (c *client) list(ctx context.Context, path string, params map[string]string, limit int, on func(seen)) (version string, size int64, err error) {
	from := ""
	for {
		l, n, err := c.page(ctx, path, params, limit, from)
		size += int64(n)
		if err != nil {
			return "", size, err
		}
		for _, item := range l.Items {
			on(item.Metadata)
		}
		if from = l.Metadata.Continue; from == "" {
			return l.Metadata.ResourceVersion, size, nil
		}
	}
}

// first reads the version of a resource with as little else as there can be.
func (c *client) first(ctx context.Context, path string, params map[string]string) (version string, size int, err error) {
	l, size, err := c.page(ctx, path, params, 1, "")
	return l.Metadata.ResourceVersion, size, err
}
