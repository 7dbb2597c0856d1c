variable "day" { default = 1 }
variable "day" { default = 2 } # ERROR: Duplicate name | There is already a variable named "day"
