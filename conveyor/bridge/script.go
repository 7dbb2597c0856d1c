package bridge

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua lua/lib/*.lua
var luaFiles embed.FS

// The scripts run on the fleet's store.
var (
	handScript    = newScript("hand")
	noteScript    = newScript("note")
	retractScript = newScript("retract")
	forgetScript  = newScript("forget")
	lookScript    = newScript("look")
	closingScript = newScript("lib/fleet", "closing")

	takeScript     = newScript("lib/fleet", "take")
	askScript      = newScript("ask")
	addedScript    = newScript("added")
	setAsideScript = newScript("setaside")
	lateScript     = newScript("late")
	finishScript   = newScript("lib/fleet", "finish")
)

// newScript joins files to one script.
func newScript(names ...string) *redis.Script {
	text := ""
	for _, name := range names {
		part, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic(err) // the file is embedded: this is a mistake in this package, found by any test
		}
		text += string(part)
	}
	return redis.NewScript(text)
}
