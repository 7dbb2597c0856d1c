package enginemodel

// obsolete tells whether a live job other than this one carries all the labels that make it obsolete. A template does not count,
// nor does one whose end is decided, or that this one replaces.
func (e *Engine) obsolete(j *job, replaces string) bool {
	if len(j.wire.ObsoleteIf) == 0 {
		return false
	}
	for _, o := range e.jobs {
		if o != j && o.uuid != replaces && o.live() && !o.end.decided() && o.template == nil && o.labelled(j.wire.ObsoleteIf) {
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

// dropObsolete ends a job that is obsolete.
func (e *Engine) dropObsolete(j *job) bool {
	if !e.obsolete(j, "") {
		return false
	}
	e.dropped++
	e.closeAs(j, obsolete)
	return true
}
