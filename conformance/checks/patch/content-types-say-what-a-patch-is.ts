import { encodeCbor } from "../../../wire/cbor.ts";
import { podTemplate, specPath } from "../../arbitraries/pod-templates.ts";
import { objectOf, patchTypes } from "../../client/collection.ts";
import { objectsIn, versionOf } from "../../client/types.ts";
import { valueAt } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** One body means one thing as a merge patch, another as a strategic one, and nothing as any type that is no patch's. */
export const contentTypesSayWhatAPatchIs = defineCheck({
  id: "content-types-say-what-a-patch-is",
  area: "patch",
  property: "The Content-Type of a PATCH alone says what kind of patch it is.",
  requirements: ["patch.by-content-type", "patch.unknown-type", "patch.no-cbor"],
  features: ["podtemplates"],
  async run(attempt) {
    const collection = await attempt.target.collection("podtemplates");
    const { client } = collection;
    const patch = { template: { spec: { containers: [{ name: "side", image: "example.com/side:1" }] } } };
    const meanings: readonly [contentType: string, containers: string][] = [
      [patchTypes.merge, "side"],
      [`${patchTypes.merge}; charset=utf-8`, "side"],
      [patchTypes.strategic, "main side"],
      [`${patchTypes.strategic};charset=UTF-8`, "main side"],
    ];
    for (const [index, [contentType, expected]] of meanings.entries()) {
      objectOf(await collection.create(podTemplate(`a${index}`)));
      const answer = await client.request("PATCH", collection.pathOf(`a${index}`), { body: patch, contentType });
      const names = answer.status === 200 ? namesOf(objectOf(answer)) : `${answer.status} ${answer.text.slice(0, 200)}`;
      attempt.expect("patch.by-content-type", names === expected, `containers ${expected} by ${contentType}`, names);
    }
    const before = objectOf(await collection.create(podTemplate("b")));
    const cbor = encodeCbor(patch);
    const refused: readonly [requirement: string, contentType: string, body: string | Uint8Array][] = [
      ["patch.unknown-type", "application/json", JSON.stringify(patch)],
      ["patch.unknown-type", "application/yaml", JSON.stringify(patch)],
      ["patch.unknown-type", "application/x-unknown", JSON.stringify(patch)],
      ["patch.no-cbor", "application/merge-patch+cbor", cbor],
      ["patch.no-cbor", "application/strategic-merge-patch+cbor", cbor],
      ["patch.no-cbor", "application/json-patch+cbor", encodeCbor([])],
    ];
    for (const [requirement, contentType, rawBody] of refused) {
      const answer = await client.request("PATCH", collection.pathOf("b"), { rawBody, contentType });
      const actual = `${answer.status} ${answer.text.slice(0, 200)}`;
      const statuses = requirement === "patch.no-cbor" ? attempt.profile.unservedPatchStatuses : [415];
      attempt.expect(
        requirement,
        statuses.includes(answer.status),
        `${statuses.join(" or ")} for ${contentType}`,
        actual,
      );
    }
    const after = objectOf(await collection.get("b"));
    attempt.expect("patch.unknown-type", versionOf(after) === versionOf(before), "nothing changed", namesOf(after));
  },
});

/** In the order of the alphabet: where a new element comes is another question. */
function namesOf(object: Parameters<typeof valueAt>[0]): string {
  const names = objectsIn(valueAt(object, ...specPath), "containers").map((container) => String(container["name"]));
  return names.sort().join(" ");
}
