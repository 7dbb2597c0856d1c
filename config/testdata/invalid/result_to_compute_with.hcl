job "a" { type = "noop" }
job "b" {
  type = "t"
  payload = {
    a = job.a.result.n + 1 # ERROR: Result cannot stand here | Nothing can be computed or decided from it here
    b = job.a.result.ok ? 1 : 2 # ERROR: Result cannot stand here | decided
    c = "${job.a.result.n}" == "5" # ERROR: Result cannot stand here
    d = !job.a.result.ok # ERROR: Result cannot stand here
    e = upper(job.a.result.name) # ERROR: Result cannot stand here | The function upper would see a placeholder in its place. It may go through concat, flatten, join
    f = try(job.a.result.name, "none") # ERROR: Result cannot stand here | so try() cannot tell
    g = [for r in job.a.result.rows : r.id] # ERROR: Result cannot stand here | they cannot be gone through here
    h = job.a.result.rows[*].id # ERROR: Result cannot stand here | Hand over the whole
    i = { (job.a.result.key) = 1 } # ERROR: Result cannot stand here | The keys of an object are needed before that
    j = { for k in ["x"] : "${job.a.result.key}${k}" => k } # ERROR: Result cannot stand here | The keys of an object
    k = [for k in ["x"] : k if job.a.result.ok] # ERROR: Result cannot stand here
    l = ["x"][job.a.result.n] # ERROR: Result cannot stand here
    m = "%{if job.a.result.ok}yes%{endif}" # ERROR: Result cannot stand here
    n = jsonencode({ a = upper(job.a.result.name) }) # ERROR: Result cannot stand here
  }
}
