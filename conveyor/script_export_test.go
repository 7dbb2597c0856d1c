package conveyor

import "context"

// Scripts are the names of all scripts by the sums and the functions that they are called by.
func Scripts() map[string]string {
	names := map[string]string{}
	for _, s := range scriptList {
		names[s.content().sha] = s.name
		names[s.asLibrary().name], names[s.asLibrary().freely] = s.name, s.name
	}
	return names
}

// RunScript calls a script as a Client does, so that a test can repeat a request whose number only the Client knows, or stop
// after one of the calls that it makes.
func RunScript(ctx context.Context, c *Client, name string, args ...any) (any, error) {
	return c.run(ctx, scripts[name], args...)
}
