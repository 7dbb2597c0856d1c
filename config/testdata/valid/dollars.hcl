# What looks like syntax and is text.
job "a" {
  exec {
    command = ["echo", "$${x} %%{ y } $5 100% @{z}", <<-EOT
      # no comment
      { "json": [1, 2] }
        EOT
    , "é ü", "tab\tquote\"back\\slash \u00e9"]
    stdin = <<EOT
job "not" {
  $${one} ${upper("two")} %{ if true }three%{ endif }
EOT
  }
}
