package main

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"time"
)

// config is what the two files say.
type config struct {
	// port of the listener, 0 while there is none.
	port int
	// backends are host:port, in the order of the file.
	backends []string
	health   health
}

// health is how a backend is asked. One that has not been asked yet counts as
// healthy only once it answered.
type health struct {
	path              string
	interval, timeout time.Duration
	// bad and good are how many answers in a row change what is thought of it.
	bad, good int
}

// The files are few and written by kind from templates: keys that mean one
// thing wherever they stand are enough to read them.
var (
	pathOf     = regexp.MustCompile(`(?m)^  (cds|lds)_config:\n(?:    .*\n)*?      path: *(\S+)`)
	socket     = regexp.MustCompile(`(?m)^ *address: "?([^"\s]+)"?\n *port_value: (\d+)$`)
	healthPath = regexp.MustCompile(`(?m)^    http_health_check:\n      path: (\S+)$`)
)

// readBootstrap gives the files of listeners and clusters.
func readBootstrap(file string) (listeners, clusters string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("read the bootstrap: %w", err)
	}
	for _, m := range pathOf.FindAllSubmatch(data, -1) {
		if string(m[1]) == "lds" {
			listeners = string(m[2])
		} else {
			clusters = string(m[2])
		}
	}
	if listeners == "" || clusters == "" {
		return "", "", fmt.Errorf("%s does not say where listeners and clusters are", file)
	}
	return listeners, clusters, nil
}

// readConfig reads both files, and gives their text to tell a change by.
func readConfig(listeners, clusters string) (config, []byte, error) {
	lds, err := os.ReadFile(listeners)
	if err != nil {
		return config{}, nil, fmt.Errorf("read the listeners: %w", err)
	}
	cds, err := os.ReadFile(clusters)
	if err != nil {
		return config{}, nil, fmt.Errorf("read the clusters: %w", err)
	}
	c, err := parse(lds, cds)
	return c, append(append(lds, 0), cds...), err
}

// parse takes out of the two files what is needed here. Files without
// resources, as kind writes them first, give nothing to listen at.
func parse(lds, cds []byte) (config, error) {
	var c config
	var err error
	at := socket.FindSubmatch(lds)
	if at == nil {
		return c, nil
	}
	if c.port, err = strconv.Atoi(string(at[2])); err != nil {
		return c, fmt.Errorf("port of the listener: %w", err)
	}
	for _, m := range socket.FindAllSubmatch(cds, -1) {
		c.backends = append(c.backends, net.JoinHostPort(string(m[1]), string(m[2])))
	}
	path := healthPath.FindSubmatch(cds)
	if path == nil {
		return c, fmt.Errorf("the clusters do not say how to ask for health")
	}
	c.health = health{path: string(path[1])}
	for key, into := range map[string]*time.Duration{"timeout": &c.health.timeout, "interval": &c.health.interval} {
		text, err := value(cds, key)
		if err == nil {
			*into, err = time.ParseDuration(text)
		}
		if err != nil {
			return c, fmt.Errorf("health checks: %w", err)
		}
	}
	for key, into := range map[string]*int{"unhealthy_threshold": &c.health.bad, "healthy_threshold": &c.health.good} {
		text, err := value(cds, key)
		if err == nil {
			*into, err = strconv.Atoi(text)
		}
		if err != nil {
			return c, fmt.Errorf("health checks: %w", err)
		}
	}
	return c, nil
}

// value is that of a key of the first health check.
func value(cds []byte, key string) (string, error) {
	m := regexp.MustCompile(`(?m)^  (?:- |  )` + key + `: (\S+)$`).FindSubmatch(cds)
	if m == nil {
		return "", fmt.Errorf("no %s", key)
	}
	return string(m[1]), nil
}
