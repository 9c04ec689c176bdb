import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { decodePatched, type Patch, readJsonPatchBody, readMergePatchBody } from "./decode-patch.ts";
import { bytesOf, create, endpoint, errorOf } from "./objects.fixture.ts";
import { metadataOf } from "../contract/objects.ts";

const configMaps = endpoint("v1/configmaps");
const live = create({ metadata: { name: "a", labels: { l: "1" } }, data: { k: "v", z: "0" } }, configMaps);
const warn = { level: "Warn", strictStatus: 422 } as const;
const decode = (patch: Patch, level: "Ignore" | "Warn" | "Strict" = "Warn", strictStatus: 400 | 422 = 422) =>
  decodePatched(patch, live, configMaps.target, { level, strictStatus });
const merge = (text: string): Patch => readMergePatchBody(bytesOf(text));
const json = (text: string): Patch => readJsonPatchBody(bytesOf(text));

describe("bodies that are no patch", () => {
  it.each([
    ["{oops", "error decoding patch: invalid character 'o' looking for beginning of object key string"],
    ["[1]", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"],
  ])("merge: %s", (text, message) => {
    expect(errorOf(() => merge(text))).toMatchObject({ code: 400, message });
  });

  it("JSON Patch: undecodable is 400, senseless is 422 without a word of the cause", () => {
    expect(errorOf(() => json('{"op":"remove"}')).code).toBe(400);
    const rejected = {
      code: 422,
      message: "the server rejected our request due to an error in our request",
      status: { reason: "Invalid", details: {} },
    };
    expect(errorOf(() => json('[{"op":"frobnicate","path":"/data/k"}]'))).toMatchObject(rejected);
    expect(errorOf(() => decode(json('[{"op":"remove","path":"/data/nope"}]')))).toMatchObject(rejected);
    expect(errorOf(() => decode(json('[{"op":"test","path":"/data/k","value":"no"}]')))).toMatchObject(rejected);
  });
});

describe("a patched object", () => {
  it("is the stored one but for what changed, down to identity", () => {
    const { draft } = decode(merge('{"data":{"k":"w"}}'));
    expect(draft["data"]).toEqual({ k: "w", z: "0" });
    expect(metadataOf(draft).labels).toBe(metadataOf(live).labels);
    const other = decode(json('[{"op":"add","path":"/metadata/labels/m","value":"2"}]')).draft;
    expect(metadataOf(other).labels).toEqual({ l: "1", m: "2" });
    expect(other["data"]).toBe(live["data"]);
    expect(other).not.toBe(live);
    expect(Object.isFrozen(other)).toBe(false);
  });

  it("is a draft even when the patch changes nothing", () => {
    const { draft } = decode(merge("{}"));
    expect(draft).toEqual(live);
    expect(Object.isFrozen(draft)).toBe(false);
  });

  it("is never made of the patch's own parts", () => {
    const change = { data: { n: "1" } };
    const { draft } = decodePatched(readMergePatchBody(change), live, configMaps.target, warn);
    (draft["data"] as Record<string, Json>)["n"] = "2";
    expect(change.data.n).toBe("1");
  });

  it("must be an object of the kind", () => {
    const wrong = errorOf(() => decode(merge('{"data":{"k":{"a":1}}}')));
    expect(wrong.code).toBe(422);
    expect(wrong.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{.*\}": json: cannot unmarshal object into Go struct field ConfigMap\.data of type string$/,
    );
    expect(errorOf(() => decode(json('[{"op":"replace","path":"","value":[1]}]'))).code).toBe(422);
    expect(errorOf(() => decode(merge('{"kind":"Secret"}'))).code).toBe(422);
  });
});

describe("field validation of patches", () => {
  const unknown = merge('{"bogus":1,"data":{"a":"1","a":"2"}}');

  it("warns of duplicates of the patch before unknown fields of the result", () => {
    expect(decode(unknown).warnings).toEqual(['duplicate field "data.a"', 'unknown field "bogus"']);
    expect(decode(unknown, "Ignore").warnings).toEqual([]);
    const operations = json(
      '[{"op":"add","path":"/bogus","value":1},{"op":"add","path":"/data/b","value":"1","foo":"bar"}]',
    );
    expect(decode(operations).warnings).toEqual(['json patch unknown field "[1].foo"', 'unknown field "bogus"']);
  });

  it("refuses at Strict with the profile's status", () => {
    const strict = errorOf(() => decode(unknown, "Strict"));
    expect(strict.code).toBe(422);
    expect((strict.status["details"] as JsonObject)["causes"]).toMatchObject([
      { reason: "FieldValueInvalid", field: "patch" },
    ]);
    expect(strict.message).toContain('strict decoding error: duplicate field "data.a", unknown field "bogus"');
    expect(errorOf(() => decode(unknown, "Strict", 400)).code).toBe(400);
  });
});
