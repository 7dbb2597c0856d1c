package enginemodel

// obsolete tells whether a live job that is no template carries all the labels that make this one obsolete.
func (e *Engine) obsolete(j *job) bool {
	if len(j.wire.ObsoleteIf) == 0 {
		return false
	}
	for _, o := range e.jobs {
		if o != j && o.live() && o.template == nil && o.labelled(j.wire.ObsoleteIf) {
			return true
		}
	}
	return false
}

func (j *job) labelled(want map[string]string) bool {
	for name, value := range want {
		if got, ok := j.labels[name]; !ok || got != value {
			return false
		}
	}
	return true
}
