job "a" {
  type    = "t"
  payload = { text = templatefile("secret.tftpl", {}) } # ERROR: Error in function call | secret_env() stands for only the worker knows
}
