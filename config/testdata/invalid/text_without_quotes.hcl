#! var l=[abc]
variable "l" { type = list(string) }
# ERROR@-var l:1: Invalid value of a variable | The value of variable "l" has a reference, and values from outside can have none. Text is written in quotes: "abc".
