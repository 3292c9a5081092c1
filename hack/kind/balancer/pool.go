package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// dialTimeout is longer than the quarter of a second that kind gives its proxy:
// on a small machine an apiserver under load takes longer to accept.
const dialTimeout = 2 * time.Second

// pool is the set of apiservers and what is known of each.
type pool struct {
	mu       sync.Mutex
	health   health
	backends []*backend
	next     int
}

// backend is one apiserver.
type backend struct {
	address string
	healthy bool
	// run counts answers in a row that speak against healthy.
	run int
}

func newPool() *pool { return &pool{} }

// set replaces the apiservers; what is known of those that stay is kept.
func (p *pool) set(addresses []string, h health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	former := p.backends
	p.backends, p.health = nil, h
	for _, a := range addresses {
		i := slices.IndexFunc(former, func(b *backend) bool { return b.address == a })
		if i >= 0 {
			p.backends = append(p.backends, former[i])
			continue
		}
		p.backends = append(p.backends, &backend{address: a})
	}
}

// order gives the addresses to try for one connection, the next in turn first.
// With fewer than half of them healthy all are tried, as kind's proxy does: an
// answer that no health check likes is better than none.
func (p *pool) order() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var healthy, all []string
	for i := range p.backends {
		b := p.backends[(p.next+i)%len(p.backends)]
		all = append(all, b.address)
		if b.healthy {
			healthy = append(healthy, b.address)
		}
	}
	p.next++
	if 2*len(healthy) < len(all) {
		return all
	}
	return healthy
}

// proxy connects a client to an apiserver until both have said all.
func (p *pool) proxy(client net.Conn) {
	defer client.Close()
	for _, address := range p.order() {
		server, err := net.DialTimeout("tcp", address, dialTimeout)
		if err != nil {
			log.Printf("connect to %s: %v", address, err)
			continue
		}
		join(client.(*net.TCPConn), server.(*net.TCPConn))
		return
	}
}

// join copies both ways. The end of one way is passed on and leaves the other
// open; an error ends both.
func join(a, b *net.TCPConn) {
	defer b.Close()
	var wg sync.WaitGroup
	one := func(to, from *net.TCPConn) {
		if _, err := io.Copy(to, from); err != nil {
			a.Close()
			b.Close()
			return
		}
		_ = to.CloseWrite()
	}
	wg.Go(func() { one(a, b) })
	wg.Go(func() { one(b, a) })
	wg.Wait()
}

// check asks every apiserver, each interval, until the context ends.
func (p *pool) check(ctx context.Context) {
	// The certificate is not looked at, as kind tells its proxy: who answers on
	// this network is a node, and no secret is sent.
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   insecure(),
		DisableKeepAlives: true,
	}}
	for {
		p.mu.Lock()
		h, backends := p.health, slices.Clone(p.backends)
		p.mu.Unlock()
		var wg sync.WaitGroup
		for _, b := range backends {
			wg.Go(func() { p.note(b, h, ask(ctx, client, b.address, h)) })
		}
		wg.Wait()
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(h.interval, reread)):
		}
	}
}

// ask is one health check.
func ask(ctx context.Context, client *http.Client, address string, h health) error {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+h.path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	err = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s says %s", h.path, response.Status))
	}
	return err
}

// note counts an answer, and says when it changes what is thought of a backend.
func (p *pool) note(b *backend, h health, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (err == nil) == b.healthy {
		b.run = 0
		return
	}
	b.run++
	limit := h.good
	if b.healthy {
		limit = h.bad
	}
	if b.run < limit {
		return
	}
	b.healthy, b.run = err == nil, 0
	log.Printf("%s is healthy: %t (%v)", b.address, b.healthy, err)
}

// insecure takes any certificate.
func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }
