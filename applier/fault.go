package applier

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

// storeError gives Redis's own refusals the words that tell what to do. key is without the namespace's prefix.
func storeError(err error, key string) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "WRONGTYPE"):
		return fmt.Errorf("%w: key %q of this namespace holds something that Waybill did not write; "+
			"use another namespace (workflow block, namespace = ...) or remove that key: %w", conveyor.ErrCorrupt, key, err)
	default:
		return err
	}
}

// causeOf is the error to report for a call under ctx, the context of a lock's holder.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(err, conveyor.ErrGuard) || errors.Is(context.Cause(ctx), ErrLockLost) {
		return ErrLockLost
	}
	return err
}

// endedBy tells whether err is what a call returns whose ctx has ended.
func endedBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
