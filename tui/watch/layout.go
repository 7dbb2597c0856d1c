package watch

// pane is a part of the screen that keys and the mouse go to.
type pane uint8

const (
	paneList pane = iota
	paneDetail
	paneLog
	panes
)

// rect is a part of the screen in cells. A pane without height is not shown.
type rect struct{ x, y, w, h int }

func (r rect) shown() bool { return r.w > 0 && r.h > 0 }

func (r rect) holds(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// layout is where everything stands on a screen. Panes have a title in their first line.
type layout struct {
	title, tabs bool // whether these lines are shown
	panes       [panes]rect
	foot        int // first line of the foot
}

// The sizes from which more is shown at once.
const (
	wideEnough  = 110 // list beside the rest
	widest      = 200 // list, detail and log in three columns
	highEnough  = 20  // list above a short detail
	roomyEnough = 76  // for that, columns
	detailLines = 8   // of the short detail, with its title
)

// lay divides a screen. alone is a pane that is shown without the others, broad a list that needs the whole width; hasLog tells
// whether this tab has logs.
func lay(width, height, footLines int, focus pane, alone, broad, hasLog bool) layout {
	l := layout{title: height >= 12, tabs: height >= 4}
	y := 0
	if l.title {
		y++
	}
	if l.tabs {
		y++
	}
	l.foot = max(y, height-footLines)
	body := rect{0, y, width, l.foot - y}
	switch {
	case body.h <= 0 || body.w <= 0:
	case alone || width < roomyEnough || height < highEnough:
		l.panes[focus] = body
	case width >= widest && hasLog && !broad:
		list := min(width*2/5, 110)
		detail := (width - list - 2) * 2 / 5
		l.panes[paneList] = rect{0, y, list, body.h}
		l.panes[paneDetail] = rect{list + 1, y, detail, body.h}
		l.panes[paneLog] = rect{list + detail + 2, y, width - list - detail - 2, body.h}
	case width >= wideEnough && !broad:
		list := width / 2
		if width < 130 {
			list = width * 9 / 20
		}
		right := rect{list + 1, y, width - list - 1, body.h}
		l.panes[paneList] = rect{0, y, list, body.h}
		l.panes[paneDetail] = right
		if hasLog {
			l.panes[paneDetail].h = body.h * 9 / 20
			l.panes[paneLog] = rect{right.x, y + l.panes[paneDetail].h, right.w, body.h - l.panes[paneDetail].h}
		}
	default:
		below := min(detailLines, body.h/2)
		l.panes[paneList] = rect{0, y, width, body.h - below}
		second := paneDetail
		if focus != paneList {
			second, below = focus, body.h/2
			l.panes[paneList].h = body.h - below
		}
		l.panes[second] = rect{0, y + body.h - below, width, below}
	}
	return l
}

// at is the pane under a cell.
func (l layout) at(x, y int) (pane, bool) {
	for p, r := range l.panes {
		if r.holds(x, y) {
			return pane(p), true
		}
	}
	return 0, false
}
