workflow "renames" {}
job "extract" {
  for_each = toset(["eu", "us"])
  exec { command = ["extract", each.key] }
}
job "load" {
  exec { command = ["load"] }
}
job "first" {
  exec { command = ["same"] }
}
job "second" {
  exec { command = ["same"] }
}
job "mark" {
  type = "noop"
}
