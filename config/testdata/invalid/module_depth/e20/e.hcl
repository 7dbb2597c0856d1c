module "next" {
  source = "../e21" # ERROR: Nested too deeply | Modules nest more than 20 deep here
}
