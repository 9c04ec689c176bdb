import { encodeCbor } from "../../../wire/cbor.ts";
import { cborMediaType, cborSequenceMediaType } from "../../../wire/media-types.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { cborItemsIn, readOr } from "../../client/read-bodies.ts";
import type { Json, JsonObject } from "../../client/types.ts";
import { partsOf, showsSame } from "../../runner/encodings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a target that serves CBOR reads, watches and applies in it.
 * Method: one ConfigMap in each way. (Random objects go through it with the other encodings.)
 */
export const cborIsWhole = defineCheck({
  id: "cbor-is-whole",
  area: "encodings",
  property: "Where CBOR is served, objects, watches and applies come and go in it.",
  requirements: ["encodings.cbor", "encodings.cbor-watch", "apply.cbor"],
  features: ["configmaps", "watch", "cbor"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    const before = await collection.readList();
    const object = objectOf(await collection.create(configMap("a", { data: { k: "v" } })));
    const alone = await client.request("GET", collection.pathOf("a"), { accept: cborMediaType });
    const read = decoded(alone.bytes);
    attempt.expect(
      "encodings.cbor",
      read.length === 1 && showsSame(read, object),
      JSON.stringify(partsOf(object)),
      JSON.stringify(read),
    );

    const watched = await client.request("GET", collection.path, {
      accept: cborMediaType,
      query: { watch: true, resourceVersion: before.resourceVersion, timeoutSeconds: 1 },
    });
    const type = mediaTypeOf(watched.headers);
    attempt.expect("encodings.cbor-watch", type === cborSequenceMediaType, cborSequenceMediaType, type);
    const events = watched.status === 200 ? decoded(watched.bytes) : [];
    const shown = events.map((event) => (event as JsonObject | null)?.["object"] ?? null);
    const actual = `${watched.status} ${JSON.stringify(events).slice(0, 400)}`;
    attempt.expect(
      "encodings.cbor-watch",
      showsSame(shown, object),
      `an event with ${JSON.stringify(partsOf(object))}`,
      actual,
    );

    const configuration = { ...configMap("a", { data: { n: "1" } }) } as Parameters<typeof encodeCbor>[0];
    const applied = await client.request("PATCH", collection.pathOf("a"), {
      rawBody: encodeCbor(configuration),
      contentType: "application/apply-patch+cbor",
      query: { fieldManager: "alpha" },
    });
    const isApplied = applied.status === 200 && objectOf(await collection.get("a"))["data"] !== undefined;
    const data = JSON.stringify(objectOf(await collection.get("a"))["data"]);
    attempt.expect(
      "apply.cbor",
      isApplied && data.includes('"n":"1"'),
      "200, and applied",
      `${applied.status} ${data}`,
    );
  },
});

/** The items of a sequence; none when the bytes are none. */
const decoded = (bytes: Uint8Array): Json[] => readOr(() => cborItemsIn(bytes)) ?? [];
