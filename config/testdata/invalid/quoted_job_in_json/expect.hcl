# ERROR@main.hcl.json:7: Invalid upstream job | In JSON a reference is a text with ${ and }: "${job.a}".
# ERROR@main.hcl.json:8: Invalid upstream job | In JSON a reference is a text with ${ and }: "${job.a}".
