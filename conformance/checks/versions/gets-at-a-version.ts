import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { isApiObject, versionOf } from "../../client/types.ts";
import type { Violation } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Property: a get shows the newest state, some state, or one at least as new as a version, as its version asks. */
export const getsAtAVersion = defineCheck({
  id: "gets-at-a-version",
  area: "versions",
  property: "Gets show the state that their version promises.",
  requirements: ["versions.get-most-recent", "versions.get-not-older", "versions.get-any", "objects.read-back"],
  features: ["configmaps"],
  input: fc.record({ writes: fc.integer({ min: 0, max: 5 }), pick: fc.nat() }),
  async run(attempt, { writes, pick }) {
    const collection = await attempt.target.collection("configmaps");
    const versions = [versionOf(objectOf(await collection.create(configMap("a"))))];
    for (let index = 0; index < writes; index += 1) {
      const patched = await collection.patch("a", "merge", { data: { value: `v${index}` } });
      versions.push(versionOf(objectOf(patched)));
    }
    const place = pick % versions.length;
    const judge = async (query: Record<string, string>, from: number): Promise<Violation | undefined> => {
      const answer = await collection.get("a", query);
      const shown = isApiObject(answer.json) && answer.status === 200 ? versions.indexOf(versionOf(answer.json)) : -1;
      if (shown >= from || (from === 0 && answer.status === 404 && query["resourceVersion"] === "0")) return undefined;
      const expected = `one of versions ${versions.slice(from).join(", ")}`;
      return { expected, actual: `${answer.status} ${answer.text.slice(0, 200)}` };
    };
    const recent = await judge({}, versions.length - 1);
    attempt.holds("versions.get-most-recent", recent);
    attempt.holds("objects.read-back", recent);
    attempt.holds("versions.get-any", await judge({ resourceVersion: "0" }, 0));
    attempt.holds("versions.get-not-older", await judge({ resourceVersion: versions[place] as string }, place));
  },
});
