package measure

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubeseams/seams/internal/apiclient"
)

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
	data, err := c.api.Read(ctx, path, params, accept)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// pages reads a collection until on says that it is enough.
func pages[T any](ctx context.Context, c *cluster, path string, params map[string]string, on func([]T) bool) error {
	return apiclient.Pages(ctx, func(ctx context.Context, p apiclient.Params, out any) error { return c.get(ctx, path, p, out) }, params, on)
}
