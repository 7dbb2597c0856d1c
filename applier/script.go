package applier

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

// The lock's scripts. release serves force-unlock too: both need the holder's token and nothing else.
var (
	//go:embed lua/clock.lua
	clockLua string
	//go:embed lua/acquire.lua
	acquireLua string
	//go:embed lua/renew.lua
	renewLua string
	//go:embed lua/release.lua
	releaseLua string

	acquireScript = redis.NewScript(clockLua + acquireLua)
	renewScript   = redis.NewScript(clockLua + renewLua)
	releaseScript = redis.NewScript(releaseLua)
)
