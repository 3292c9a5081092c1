// Balancer stands in for the proxy that kind puts before several control
// planes, where its image cannot be pulled. It reads the two files that kind
// writes for that proxy, and again whenever they are replaced: a listener, the
// apiservers behind it, and how to ask whether one is healthy.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// reread is how often the files are looked at: kind replaces them once, after
// its containers have started.
const reread = 200 * time.Millisecond

func main() {
	bootstrap := flag.String("c", "", "`file` that names the two files of listeners and clusters")
	flag.Parse()
	log.SetFlags(log.LUTC | log.Ldate | log.Lmicroseconds)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *bootstrap); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// serve balances until the context ends. A listener that cannot be opened and a
// file that says nothing to go by are errors: whoever started it tries again.
func serve(ctx context.Context, bootstrap string) error {
	listeners, clusters, err := readBootstrap(bootstrap)
	if err != nil {
		return err
	}
	pool := newPool()
	go pool.check(ctx)
	var seen []byte
	var listener net.Listener
	var port int
	defer func() {
		if listener != nil {
			listener.Close()
		}
	}()
	for tick := time.NewTicker(reread); ; {
		config, raw, err := readConfig(listeners, clusters)
		switch {
		case err != nil:
			return err
		case bytes.Equal(raw, seen):
		default:
			seen = raw
			pool.set(config.backends, config.health)
			log.Printf("listener at port %d, apiservers %q, asked for %s", config.port, config.backends, config.health.path)
			if config.port != port {
				if listener != nil {
					listener.Close()
				}
				if listener, port, err = listen(config.port, pool); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// listen opens a port, unless it is 0, and proxies what is accepted there.
func listen(port int, pool *pool) (net.Listener, int, error) {
	if port == 0 {
		return nil, 0, nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return nil, 0, fmt.Errorf("open the listener: %w", err)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				// It was closed for another one, or the process ends.
				return
			}
			go pool.proxy(client)
		}
	}()
	return l, port, nil
}
