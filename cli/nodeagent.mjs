#!/usr/bin/env node
// `nodeagent` of a checkout: `touchstone agent` under the name that document 3 gives it.
process.argv.splice(2, 0, "agent");
await import("./bin.mjs");
