package approve

import (
	"strings"

	"github.com/waybill-dev/waybill/planner"
	"github.com/waybill-dev/waybill/tui/screen"
)

// forecastLines are the forecast of the plan as it stands below a printed one, as much of it as there is room for.
func (m *model) forecastLines(room int) []string {
	text := m.o.Plan.ForecastText(planner.RenderOptions{Width: m.width})
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	if len(lines) > room && room > 0 {
		lines = append(lines[:room-1], "...")
	}
	for i := range lines {
		lines[i] = screen.Cut(screen.Clean(lines[i]), m.width)
	}
	return lines[:min(len(lines), max(0, room))]
}
