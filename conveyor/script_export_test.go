package conveyor

// Scripts are the names of all scripts by the sum they are called with.
func Scripts() map[string]string {
	names := map[string]string{}
	for _, s := range scriptList {
		names[s.sha] = s.name
	}
	return names
}
