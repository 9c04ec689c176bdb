import { expect, it } from "vitest";
import { asksForWatch } from "./asks-for-watch.ts";

it.each([
  ["/api/v1/pods?watch=1", true],
  ["/api/v1/pods?limit=1&watch=true", true],
  ["/api/v1/watch/namespaces/a/pods", true],
  ["/apis/batch/v1/watch/cronjobs?resourceVersion=0", true],
  ["/api/v1/pods", false],
  ["/api/v1/pods?watch=0", false],
  ["/api/v1/pods?watch=false&limit=1", false],
  ["/api/v1/pods?watch=", true],
  ["/api/v1/pods?stopwatch=1", false],
  ["/api/v1/namespaces/watch/pods", false],
])("%s: %s", (path, expected) => expect(asksForWatch(path)).toBe(expected));
