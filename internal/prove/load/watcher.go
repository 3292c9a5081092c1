package load

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// watcher is one watch that stays open: it lists, watches, and does so again
// when the server says that it missed something.
type watcher struct {
	client  *client
	path    string
	params  map[string]string
	streams bool // takes the initial state as a stream
	reads   bool // takes the initial state at all
	tracks  bool // keeps what it sees
	fails   *failures

	syncedOnce sync.Once
	synced     chan struct{}

	mu      sync.Mutex
	view    map[string]string // uid to resourceVersion
	version string
	count   watchCounts
}

// watchCounts are totals since the watch was opened.
type watchCounts struct {
	events, bytes, restarts, relists int64
}

func (w *watcher) counts() watchCounts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// follow watches until the context ends.
func (w *watcher) follow(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		if !first {
			w.mu.Lock()
			w.count.restarts++
			w.mu.Unlock()
		}
		err := w.once(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, errExpired):
			w.mu.Lock()
			w.count.relists++
			w.version = ""
			w.mu.Unlock()
		default:
			w.fails.add(err)
			// Not at once: a server that is down is asked a few times a second.
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
}

// once is one watch from where the last ended.
func (w *watcher) once(ctx context.Context) error {
	params := maps.Clone(w.params)
	params["allowWatchBookmarks"] = "true"
	w.mu.Lock()
	version := w.version
	w.mu.Unlock()
	if version == "" {
		if w.streams {
			w.reset(nil, "")
			params["sendInitialEvents"] = "true"
			params["resourceVersionMatch"] = "NotOlderThan"
		} else {
			var err error
			if version, err = w.list(ctx); err != nil {
				return err
			}
			w.syncedOnce.Do(func() { close(w.synced) })
		}
	}
	if version != "" {
		params["resourceVersion"] = version
	}
	return w.client.watch(ctx, w.path, params, w.tracks || w.streams, w.take)
}

// list takes the initial state from the watch cache, as an informer does, or
// only the version to begin at.
func (w *watcher) list(ctx context.Context) (string, error) {
	params := maps.Clone(w.params)
	if !w.reads {
		version, _, err := w.client.first(ctx, w.path, params)
		w.reset(nil, version)
		return version, err
	}
	params["resourceVersion"] = "0"
	view := map[string]string{}
	version, bytes, err := w.client.list(ctx, w.path, params, 0, func(s seen) { view[s.UID] = s.ResourceVersion })
	if err != nil {
		return "", err
	}
	w.reset(view, version)
	w.mu.Lock()
	w.count.bytes += bytes
	w.mu.Unlock()
	return version, nil
}

func (w *watcher) reset(view map[string]string, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
	if w.tracks {
		w.view = map[string]string{}
		maps.Copy(w.view, view)
	}
}

// initialEnd marks the bookmark that ends a streamed initial state.
const initialEnd = "k8s.io/initial-events-end"

func (w *watcher) take(e event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Type == "BOOKMARK" {
		w.version = e.Object.Metadata.ResourceVersion
		if e.Object.Metadata.Annotations[initialEnd] == "true" {
			w.syncedOnce.Do(func() { close(w.synced) })
		}
		return nil
	}
	w.count.events++
	w.count.bytes += int64(e.bytes)
	if !e.decoded {
		// Where it was is not known: after an end it lists anew.
		w.version = ""
		return nil
	}
	m := e.Object.Metadata
	// Initial events are not in order; only their end says where it stands.
	select {
	case <-w.synced:
		w.version = m.ResourceVersion
	default:
		if !w.streams {
			w.version = m.ResourceVersion
		}
	}
	if !w.tracks {
		return nil
	}
	if e.Type == "DELETED" {
		delete(w.view, m.UID)
	} else {
		w.view[m.UID] = m.ResourceVersion
	}
	return nil
}
