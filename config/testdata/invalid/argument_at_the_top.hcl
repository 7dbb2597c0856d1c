queue = "etl" # ERROR: Unsupported argument | "queue" is a block
day   = "x"   # ERROR: Unsupported argument | has blocks and no arguments
