# ERROR@main.hcl.json:10: Wrong type of value | This is about the element 0 of the dynamic block
# ERROR@main.hcl.json:13: Unsupported block | "queue" is an argument
