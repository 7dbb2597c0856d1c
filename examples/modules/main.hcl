# A newsletter in several languages: what is done for each of them is a module.

workflow "modules" {}

variable "languages" {
  type    = map(string)
  default = { da = "Nyheder", en = "News", it = "Notizie" }
}

job "write" {
  exec { command = ["echo", "writing this week's letter"] }
}

# One module for each language. Its arguments are the variables of edition/main.hcl; that one of them is a job makes the first job
# in there wait for it.
module "edition" {
  source   = "./edition"
  for_each = var.languages

  language = each.key
  title    = each.value
  text     = job.write
}

# All jobs in all editions.
job "send" {
  predecessor { jobs = module.edition }
  exec { command = concat(["echo", "sending"], [for e in module.edition : e.title]) }
}

# One job of one edition, which the module gives away as an output.
job "post" {
  predecessor { job = module.edition["en"].printed }
  exec { command = ["echo", "posting the English edition on the wall"] }
}

output "printed" {
  value = { for language, e in module.edition : language => e.printed.address }
}
