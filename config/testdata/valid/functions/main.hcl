#! optional
locals {
  list = ["c", "a", "b", "a"]
  map  = { a = 1, b = 2 }
}

output "numbers" {
  value = [abs(-1), ceil(1.2), floor(1.8), log(8, 2), max(1, 2), min(1, 2), parseint("ff", 16), pow(2, 3), signum(-5), sum([1, 2.5])]
}
output "strings" {
  value = [
    chomp("a\n"), endswith("abc", "bc"), format("%05.1f %s %d%%", 1.25, "x", 3), formatlist("%s!", ["a", "b"]), indent(2, "a\nb"), join("-", ["a", "b"]),
    lower("ABC"), regex("[a-z]+", "12ab"), regexall("[0-9]", "a1b2"), replace("a.b", ".", "-"), replace("abc", "/[bc]/", "x"), split(",", "a,b"),
    startswith("abc", "ab"), strcontains("abc", "b"), strrev("abc"), substr("abcdef", 1, 3), title("ab cd"), trim("xxaxx", "x"),
    trimprefix("abc", "a"), trimspace("  a "), trimsuffix("abc", "c"), upper("abc"), length("héllo"),
  ]
}
output "collections" {
  value = [
    alltrue([true, true]), anytrue([false, true]), chunklist(["a", "b", "c"], 2), coalesce(null, "a"), coalescelist([], ["a"]), compact(["a", "", "b"]),
    concat(["a"], ["b"]), contains(local.list, "a"), distinct(local.list), element(local.list, 5), flatten([["a"], [["b"]]]), index(local.list, "b"),
    keys(local.map), length(local.list), length(local.map), lookup(local.map, "c", 3), matchkeys(["x", "y"], ["a", "b"], ["b"]), merge(local.map, { b = 3 }),
    one([]), one(["a"]), range(3), reverse(["a", "b"]), setintersection(["a", "b"], ["b"]), setproduct(["a"], ["b", "c"]), setsubtract(["a", "b"], ["b"]),
    setunion(["a"], ["b"]), slice(local.list, 1, 3), sort(local.list), transpose({ a = ["x", "y"], b = ["x"] }), values(local.map), zipmap(["a"], [1]),
  ]
}
output "types" {
  value = [tobool("true"), tolist(["a", 1]), tomap({ a = 1, b = "x" }), tonumber("1.5"), toset(["b", "a", "b"]), tostring(1), try(local.map.c, "fallback"), can(local.map.c), tolist(toset([]))]
}
output "encodings" {
  value = [
    base64decode("aGk="), base64encode("hi"), csvdecode("a,b\n1,2"), jsondecode("{\"a\":[1,null]}"), jsonencode({ b = 1, a = "<x>" }), urlencode("a b&c"),
    yamldecode("a: [1, x]"), yamlencode({ a = [1] }), md5("a"), sha1("a"), sha256("a"), sha512("a"), uuidv5("dns", "example.com"),
    uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "example.com"),
  ]
}
output "times" {
  value = [formatdate("DD MMM YYYY hh:mm", "2026-11-21T06:05:00Z"), timeadd("2026-11-21T06:00:00Z", "90m"), timecmp("2026-11-21T06:00:00Z", "2026-11-21T07:00:00+01:00")]
}
output "files" {
  value = [
    file("hello.txt"), filebase64("hello.txt"), filemd5("hello.txt"), filesha1("hello.txt"), filesha256("hello.txt"), substr(filesha512("hello.txt"), 0, 8),
    fileexists("hello.txt"), fileexists("missing.txt"), basename("a/b.txt"), dirname("a/b.txt"), templatefile("hello.tmpl", { names = ["x", "y"] }), path.module, path.root,
    fileset(".", "*.t{xt,mpl}"), fileset("sub", "**/*.txt"), fileset("sub/", "**"), fileset("sub", "*/?.txt"), fileset(".", "**/[a-c].txt"), fileset(".", "nothing"), fileset("./sub/..", "sub/deep/**/c.txt"),
  ]
}
output "marks" {
  sensitive = true
  value     = [issensitive(sensitive("x")), issensitive("x"), nonsensitive(sensitive("y")), sensitive({ a = 1 })]
}
output "uuids" {
  value = [jsonencode({ u = job.a.uuid }), join(",", [job.a.uuid]), urlencode("u=${job.a.uuid}"), format("%s", job.a.uuid), coalesce(null, job.a.uuid)]
}
job "a" { type = "noop" }
