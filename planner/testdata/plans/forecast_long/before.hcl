workflow "orders" {}

job "s0" {
  exec { command = ["s0"] }
}

job "s1" {
  predecessor { job = job.s0 }
  exec { command = ["s1"] }
}

job "s2" {
  predecessor { job = job.s1 }
  exec { command = ["s2"] }
}

job "s3" {
  predecessor { job = job.s2 }
  exec { command = ["s3"] }
}

job "s4" {
  predecessor { job = job.s3 }
  exec { command = ["s4"] }
}

job "s5" {
  predecessor { job = job.s4 }
  exec { command = ["s5"] }
}

job "s6" {
  predecessor { job = job.s5 }
  exec { command = ["s6"] }
}

job "s7" {
  predecessor { job = job.s6 }
  exec { command = ["s7"] }
}

job "s8" {
  predecessor { job = job.s7 }
  exec { command = ["s8"] }
}

job "s9" {
  predecessor { job = job.s8 }
  exec { command = ["s9"] }
}

job "s10" {
  predecessor { job = job.s9 }
  exec { command = ["s10"] }
}

job "s11" {
  predecessor { job = job.s10 }
  exec { command = ["s11"] }
}

job "s12" {
  predecessor { job = job.s11 }
  exec { command = ["s12"] }
}

job "s13" {
  predecessor { job = job.s12 }
  exec { command = ["s13"] }
}

job "s14" {
  predecessor { job = job.s13 }
  exec { command = ["s14"] }
}

job "s15" {
  predecessor { job = job.s14 }
  exec { command = ["s15"] }
}

job "s16" {
  predecessor { job = job.s15 }
  exec { command = ["s16"] }
}

job "s17" {
  predecessor { job = job.s16 }
  exec { command = ["s17"] }
}

job "s18" {
  predecessor { job = job.s17 }
  exec { command = ["s18"] }
}

job "s19" {
  predecessor { job = job.s18 }
  exec { command = ["s19"] }
}
