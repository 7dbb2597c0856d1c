package redistest

import (
	"slices"

	"github.com/redis/go-redis/v9"
)

// IsScript tells whether a command runs a script of the engine or of the applier, by whatever it is called. Hooks of clients ask it.
func IsScript(cmd redis.Cmder) bool {
	return slices.Contains([]string{"evalsha", "eval", "fcall"}, cmd.Name())
}
