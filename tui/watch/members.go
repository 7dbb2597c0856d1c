package watch

import (
	"slices"

	"github.com/waybill-dev/waybill/tui/board"
)

// members are the jobs of a workflow that a summary names: those that did not succeed, and those that run.
type members struct {
	bad, running []int32 // places, ascending
	sections     []board.Section
}

// enrol goes through n jobs.
func enrol(n int, section func(place int) board.Section) members {
	m := members{sections: make([]board.Section, n)}
	for i := range n {
		m.sections[i] = section(i)
		if list := m.of(m.sections[i]); list != nil {
			*list = append(*list, int32(i))
		}
	}
	return m
}

// of is the list of a section, nil when none is kept.
func (m *members) of(s board.Section) *[]int32 {
	switch s {
	case board.Failed:
		return &m.bad
	case board.Running:
		return &m.running
	}
	return nil
}

// changed follows one job.
func (m *members) changed(j *board.Job) {
	if j.Place >= len(m.sections) {
		return
	}
	prior, next := m.sections[j.Place], board.Standing(j.Status)
	if prior == next {
		return
	}
	m.sections[j.Place] = next
	if list := m.of(prior); list != nil {
		if at, ok := slices.BinarySearch(*list, int32(j.Place)); ok {
			*list = slices.Delete(*list, at, at+1)
		}
	}
	if list := m.of(next); list != nil {
		at, _ := slices.BinarySearch(*list, int32(j.Place))
		*list = slices.Insert(*list, at, int32(j.Place))
	}
}
