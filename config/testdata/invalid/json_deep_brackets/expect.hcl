# ERROR@main.hcl.json:1: Nested too deeply | This JSON nests
