package watch

// tree is a stand-in until the tree of tui/board is there: jobs are listed instead.
type tree struct{}

func (m *model) treeShown() bool { return false }

func (t *tree) chosen() (row, bool)          { return row{}, false }
func (t *tree) toggle()                      {}
func (t *tree) move(dx, dy int)              {}
func (t *tree) show(height int)              {}
func (t *tree) onFold() bool                 { return false }
func (t *tree) choose(key jobKey) bool       { return false }
func (t *tree) click(x, y int)               {}
func (t *tree) changed(changes []change)     {}
func (m *model) arrangeTree()                {}
func (m *model) treeLines(w, h int) []string { return nil }
