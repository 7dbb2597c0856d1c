job "load" {
  type = "noop"
}
output "name" {
  value = "m"
}
output "load_of" {
  value = job.lod # ERROR: Reference to undeclared job | Did you mean "load"? This is in module.counted[0].
}
