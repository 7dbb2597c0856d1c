package conveyor_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/enginemodel"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// slowTicker, as a hook of a client, holds up what a ticker has made of a schedule while it is asked to.
type slowTicker struct {
	scripts map[string]string // by what they are called with
	holds   bool
	held    []any
}

var errHeldUp = errors.New("HELD UP on the way")

func newSlowTicker() *slowTicker {
	return &slowTicker{scripts: conveyor.Scripts()}
}

func (*slowTicker) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s *slowTicker) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		const arguments = 5 // evalsha or fcall, the script, the number of keys, two keys
		if args := cmd.Args(); s.holds && redistest.IsScript(cmd) && s.scripts[fmt.Sprint(args[1])] == "schedule" {
			s.held = args[arguments:]
			cmd.SetErr(errHeldUp)
			return errHeldUp
		}
		return next(ctx, cmd)
	}
}
func (*slowTicker) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// held is what a ticker wanted to store, by the model and for each store.
type held struct {
	model enginemodel.Judgement
	args  [][]any
}

// lateTick is a ticker that is held up between computing and storing; another may come first.
func (h *history) lateTick() {
	if len(h.late) > 0 && h.one("arrives", 2) {
		h.arrive()
		return
	}
	h.log("tick, held up")
	var late held
	judged := h.model.LateTick()
	for i, e := range h.stores {
		way := h.ways[i]
		way.holds, way.held = true, nil
		_, err := e.Tick(e.Context())
		way.holds = false
		if (way.held != nil) != (len(judged) > 0) {
			h.fatal("%s: a schedule was judged: %t, the model judges %d", stores[i].name, way.held != nil, len(judged))
		}
		if way.held == nil {
			e.ok(err)
		}
		late.args = append(late.args, way.held)
	}
	if len(judged) > 0 {
		late.model = judged[0]
		h.late = append(h.late, late)
	}
}

// arrive has a ticker that was held up come through.
func (h *history) arrive() {
	n := h.int("which", 0, len(h.late)-1)
	late := h.late[n]
	h.log("the ticker held up comes through: %v", late.args[0])
	h.model.Store(late.model)
	for i, e := range h.stores {
		_, err := conveyor.RunScript(e.Context(), e.Client, "schedule", late.args[i]...)
		e.ok(err)
	}
	if !h.one("again", 4) {
		h.late = append(h.late[:n:n], h.late[n+1:]...)
	}
}
