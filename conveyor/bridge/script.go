package bridge

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// The scripts run on the fleet's store.
var (
	handScript    = newScript("hand")
	noteScript    = newScript("note")
	retractScript = newScript("retract")
	forgetScript  = newScript("forget")
	lookScript    = newScript("look")
)

func newScript(name string) *redis.Script {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // the file is embedded: this is a mistake in this package, found by any test
	}
	return redis.NewScript(string(text))
}
