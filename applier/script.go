package applier

import (
	_ "embed"

	"github.com/redis/go-redis/v9"
)

// The scripts of the lock, and the one that gives a workflow another name. release serves force-unlock too: both need the holder's token and nothing else.
var (
	//go:embed lua/clock.lua
	clockLua string
	//go:embed lua/acquire.lua
	acquireLua string
	//go:embed lua/renew.lua
	renewLua string
	//go:embed lua/release.lua
	releaseLua string
	//go:embed lua/carry.lua
	carryLua string
	//go:embed lua/note.lua
	noteLua string
	//go:embed lua/consent.lua
	consentLua string

	acquireScript = redis.NewScript(clockLua + acquireLua)
	renewScript   = redis.NewScript(clockLua + renewLua)
	releaseScript = redis.NewScript(releaseLua)
	carryScript   = redis.NewScript(clockLua + carryLua)
	noteScript    = redis.NewScript(noteLua)
	consentScript = redis.NewScript(consentLua)
)
