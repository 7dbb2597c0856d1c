package planner

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of the text of a forecast.
const (
	shownWaves      = 8
	shownWaveBlocks = 4
	shownSteps      = 3 // at either end of the longest chain
)

// renderForecast writes the forecast that stands above a plan's summary.
func (p *Plan) renderForecast(c *canvas) {
	f := p.Forecast
	if f == nil {
		return
	}
	c.blank()
	switch {
	case f.Jobs == 0:
		c.paragraph(f.nothing())
		return
	case f.Jobs == 1:
		c.paragraph("Forecast: 1 job starts, " + f.Waves[0].text() + ".")
	case f.WaveCount == 1:
		c.paragraph(fmt.Sprintf("Forecast: %d jobs start at once.", f.Jobs))
	default:
		c.paragraph(fmt.Sprintf("Forecast: %d jobs start in %d waves, each as soon as what it waits for is done:", f.Jobs, f.WaveCount))
		f.renderWaves(c)
	}
	for _, s := range f.sentences() {
		c.paragraph(s)
	}
}

// nothing says what a forecast waits for in which nothing starts.
func (f *Forecast) nothing() string {
	switch {
	case f.OnHold == 0:
		return "Forecast: nothing starts unless something fails."
	case f.Conditional == 0:
		return "Forecast: nothing starts until what is on hold is released."
	default:
		return "Forecast: nothing starts until what is on hold is released, or something fails."
	}
}

// Line is the forecast in one line, without what follows from it for single jobs.
func (f *Forecast) Line() string {
	switch {
	case f.Jobs == 0:
		return f.nothing()
	case f.Unknown == f.Jobs:
		return fmt.Sprintf("Forecast: %s in %s; nobody knows yet how long it takes.", counted(f.Jobs, "job starts", "jobs start"), counted(f.WaveCount, "wave", "waves"))
	case f.Unknown > 0:
		return fmt.Sprintf("Forecast: %s in %s; it takes at least %s.", counted(f.Jobs, "job starts", "jobs start"), counted(f.WaveCount, "wave", "waves"), roughly(f.Expected))
	}
	return fmt.Sprintf("Forecast: %s in %s; it takes about %s.", counted(f.Jobs, "job starts", "jobs start"), counted(f.WaveCount, "wave", "waves"), roughly(f.Expected))
}

func (f *Forecast) renderWaves(c *canvas) {
	told := f.Waves
	if len(told) > shownWaves+1 || f.WaveCount > len(told) {
		told = told[:min(len(told), shownWaves)]
	}
	width := len(strconv.Itoa(len(told)))
	for i := range told {
		c.raw(fmt.Sprintf("  %*d. %s\n", width, i+1, told[i].text()))
	}
	if more := f.WaveCount - len(told); more > 0 {
		c.raw(fmt.Sprintf("  %*s  ... and %s\n", width, "", counted(more, "more wave", "more waves")))
	}
}

func (w *Wave) text() string {
	var parts []string
	told := 0
	for i := range w.Blocks {
		if i == shownWaveBlocks {
			break
		}
		b := &w.Blocks[i]
		text := b.Addr.String()
		if b.Jobs > 1 {
			text += fmt.Sprintf(" (%d jobs)", b.Jobs)
		}
		parts = append(parts, text)
		told += b.Jobs
	}
	if told < w.Jobs {
		parts = append(parts, counted(w.Jobs-told, "more job", "more jobs"))
	}
	return strings.Join(parts, ", ")
}

// sentences say what there is to say below the waves.
func (f *Forecast) sentences() (all []string) {
	known := f.Unknown < f.Jobs
	if known && f.Length > 1 {
		all = append(all, "Longest chain: "+f.chain()+".")
	}
	switch {
	case !known && f.Jobs == 1:
		all = append(all, "How long it takes is not known: it has not run to its end before.")
	case !known:
		all = append(all, "How long this takes is not known: none of these jobs has run to its end before.")
	default:
		all = append(all, f.expectation())
	}
	if f.Waits.Name != "" {
		all = append(all, f.Waits.String()+" starts "+fireText(f.NotBefore, time.UTC)+" at the earliest.")
	}
	if f.Conditional > 0 {
		all = append(all, counted(f.Conditional, "job starts", "jobs start")+" only if something fails.")
	}
	if f.OnHold > 0 {
		all = append(all, counted(f.OnHold, "job starts", "jobs start")+" only once what is on hold is released.")
	}
	return all
}

func (f *Forecast) expectation() string {
	text := "By the last runs this takes about " + roughly(f.Expected)
	if f.Unknown > 0 {
		text = "By the last runs this takes at least " + roughly(f.Expected)
	}
	if f.Queue != "" {
		text += fmt.Sprintf(", since queue %s bounds how many run at a time", quoted(f.Queue))
	} else if f.Jobs > 1 {
		text += " if there are workers enough"
	}
	switch {
	case f.Unknown == 1:
		text += "; 1 job has no history and is not counted"
	case f.Unknown > 1:
		text += fmt.Sprintf("; %d jobs have no history and are not counted", f.Unknown)
	}
	return text + "."
}

// chain names the jobs of the critical chain, in a long one those at its ends.
func (f *Forecast) chain() string {
	var parts []string
	for i := range f.Critical {
		s := &f.Critical[i]
		if f.Length > 2*shownSteps+1 && i >= shownSteps && i < len(f.Critical)-shownSteps {
			if i == shownSteps {
				parts = append(parts, counted(f.Length-2*shownSteps, "more job", "more jobs"))
			}
			continue
		}
		text := s.Addr.String()
		if s.Known {
			text += " " + roughly(s.Takes)
		} else {
			text += " (no history)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", then ")
}

// roughly is a duration as people tell it: at most two units, and tenths below ten seconds.
func roughly(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < 100*time.Millisecond:
		return "0.1s"
	case d < 10*time.Second:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + "s"
	case d < time.Hour:
		return durationText(d.Round(time.Second))
	case d < 48*time.Hour:
		return durationText(d.Round(time.Minute))
	default:
		days, hours := int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour)
		if hours == 0 {
			return fmt.Sprintf("%dd", days)
		}
		return fmt.Sprintf("%dd%dh", days, hours)
	}
}

// forecastBody is what programs are told.
type forecastBody struct {
	Forecast *forecastMembers `json:"forecast"`
}

type forecastMembers struct {
	Jobs        int              `json:"jobs"`
	Conditional int              `json:"conditional,omitempty"`
	OnHold      int              `json:"on_hold,omitempty"`
	Waves       []waveMembers    `json:"waves"`
	WaveCount   int              `json:"wave_count"`
	Critical    []stepMembers    `json:"critical_path"`
	Length      int              `json:"critical_path_length"`
	Expected    *float64         `json:"expected_seconds,omitempty"` // absent without any history
	Unknown     int              `json:"without_history"`
	Queue       string           `json:"limited_by_queue,omitempty"`
	NotBefore   *notBeforeMember `json:"not_before,omitempty"`
}

type waveMembers struct {
	Jobs   int            `json:"jobs"`
	Blocks []blockMembers `json:"blocks"`
}

type blockMembers struct {
	Addr string `json:"addr"`
	Jobs int    `json:"jobs"`
}

type stepMembers struct {
	Addr    string   `json:"addr"`
	Seconds *float64 `json:"expected_seconds,omitempty"` // absent without history
}

type notBeforeMember struct {
	Addr string `json:"addr"`
	Time string `json:"time"`
}

func (f *Forecast) members() *forecastMembers {
	m := &forecastMembers{Jobs: f.Jobs, Conditional: f.Conditional, OnHold: f.OnHold, WaveCount: f.WaveCount, Length: f.Length, Unknown: f.Unknown, Queue: f.Queue,
		Waves: make([]waveMembers, len(f.Waves)), Critical: make([]stepMembers, len(f.Critical))}
	for i := range f.Waves {
		w := &f.Waves[i]
		m.Waves[i] = waveMembers{Jobs: w.Jobs, Blocks: make([]blockMembers, len(w.Blocks))}
		for k, b := range w.Blocks {
			m.Waves[i].Blocks[k] = blockMembers{b.Addr.String(), b.Jobs}
		}
	}
	for i, s := range f.Critical {
		m.Critical[i] = stepMembers{Addr: s.Addr.String()}
		if s.Known {
			m.Critical[i].Seconds = seconds(s.Takes)
		}
	}
	if f.Unknown < f.Jobs {
		m.Expected = seconds(f.Expected)
	}
	if f.Waits.Name != "" {
		m.NotBefore = &notBeforeMember{f.Waits.String(), f.NotBefore.UTC().Format(time.RFC3339)}
	}
	return m
}

func seconds(d time.Duration) *float64 {
	s := d.Round(time.Millisecond).Seconds()
	return &s
}

func (f *Forecast) message() Message {
	text := fmt.Sprintf("Forecast: %s in %s", counted(f.Jobs, "job", "jobs"), counted(f.WaveCount, "wave", "waves"))
	if f.Unknown < f.Jobs {
		text += ", at least " + roughly(f.Expected)
	}
	return Message{Type: "forecast", Text: text, Body: encodeBody(forecastBody{f.members()})}
}
