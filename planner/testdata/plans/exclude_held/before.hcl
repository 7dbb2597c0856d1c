workflow "orders" {}

job "load" {
  exec { command = ["load"] }
}

job "report" {
  predecessor { job = job.load }
  exec { command = ["report"] }
}

job "gone" {
  exec { command = ["gone"] }
}

job "after" {
  predecessor { job = job.gone }
  exec { command = ["after"] }
}
