module "next" { # ERROR: Nested too deeply | Modules nest more than 20 deep here
  source = "../d21"
}
