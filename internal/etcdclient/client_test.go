package etcdclient

import "testing"

func TestNewRefuses(t *testing.T) {
	for _, a := range []Access{{}, {Endpoints: []string{"http://127.0.0.1:2379"}}, {Endpoints: []string{"https://127.0.0.1:2379"}, CertFile: "none", KeyFile: "none"}} {
		if _, err := New("main", a); err == nil {
			t.Errorf("%+v is taken", a)
		}
	}
}
