package measure

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// connect makes a client that speaks JSON; client-go's clientset would keep
// the code of every group in the program.
func connect(config *rest.Config) (*rest.RESTClient, error) {
	o := rest.CopyConfig(config)
	o.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	o.QPS, o.RateLimiter = -1, nil
	o.UserAgent = "seams-measure"
	o.GroupVersion = nil
	client, err := rest.UnversionedRESTClientFor(o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return client, nil
}

// get reads JSON.
func (c *cluster) get(ctx context.Context, path string, params map[string]string, out any) error {
	data, err := c.read(ctx, path, params, "application/json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (c *cluster) read(ctx context.Context, path string, params map[string]string, accept string) ([]byte, error) {
	r := c.api.Get().AbsPath(path).SetHeader("Accept", accept)
	for k, v := range params {
		r = r.Param(k, v)
	}
	data, err := r.Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// pages reads a collection, 500 objects at a time, until on says that it is enough.
func pages[T any](ctx context.Context, c *cluster, path string, params map[string]string, on func([]T) bool) error {
	from := ""
	for {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		query := map[string]string{"limit": "500"}
		for k, v := range params {
			query[k] = v
		}
		if from != "" {
			query["continue"] = from
		}
		if err := c.get(ctx, path, query, &page); err != nil {
			return err
		}
		if from = page.Metadata.Continue; !on(page.Items) || from == "" {
			return nil
		}
	}
}
