/** ConfigMaps as text, in JSON or YAML, with fields that the schema does not know and with fields that are there twice. */
import fc from "fast-check";

/** A field too many: what it is, and a word that names it and that occurs nowhere else. */
const strayFields = {
  top: { field: "zzTop", where: "root", json: '"zzTop":1', yaml: "zzTop: 1" },
  nested: { field: "zzNested", where: "root", json: '"zzNested":{"a":{"b":[1]}}', yaml: "zzNested: {a: {b: [1]}}" },
  cased: { field: "Immutable", where: "root", json: '"Immutable":true', yaml: "Immutable: true" },
  meta: { field: "zzMeta", where: "metadata", json: '"zzMeta":"x"', yaml: "zzMeta: x" },
  twice: { field: "zzTwice", where: "data", json: '"zzTwice":"1","zzTwice":"2"', yaml: 'zzTwice: "1"\n  zzTwice: "2"' },
  label: { field: "zzLabel", where: "labels", json: '"zzLabel":"1","zzLabel":"1"', yaml: "zzLabel: a\n    zzLabel: a" },
} as const;
export type Stray = keyof typeof strayFields;

const strayNames = Object.keys(strayFields) as Stray[];
/** At least one. */
export const someStrays = fc.subarray(strayNames, { minLength: 1 });
export const fieldsOf = (strays: readonly Stray[]) => strays.map((stray) => strayFields[stray].field);

/** The whole object. `name` may be undefined, for a merge patch. */
export function faultyJson(name: string | undefined, strays: readonly Stray[]): string {
  const at = (where: string) => strays.filter((stray) => strayFields[stray].where === where);
  const words = (where: string) => at(where).map((stray) => strayFields[stray].json);
  const object = (parts: readonly string[]) => `{${parts.join(",")}}`;
  const named = name === undefined ? [] : [`"name":${JSON.stringify(name)}`];
  const metadata = object([...named, ...words("metadata"), `"labels":${object(words("labels"))}`]);
  const head = name === undefined ? [] : ['"apiVersion":"v1"', '"kind":"ConfigMap"'];
  const data = object(['"kept":"yes"', ...words("data")]);
  return object([...head, `"metadata":${metadata}`, `"data":${data}`, ...words("root")]);
}

export function faultyYaml(name: string, strays: readonly Stray[]): string {
  const lines = (where: string, indent: string) =>
    strays.filter((stray) => strayFields[stray].where === where).map((stray) => indent + strayFields[stray].yaml);
  const labels = lines("labels", "    ");
  return [
    "apiVersion: v1",
    "kind: ConfigMap",
    "metadata:",
    `  name: ${name}`,
    ...lines("metadata", "  "),
    ...(labels.length === 0 ? [] : ["  labels:", ...labels]),
    "data:",
    '  kept: "yes"',
    ...lines("data", "  "),
    ...lines("root", ""),
    "",
  ].join("\n");
}

/**
 * JSON patch speaks in operations: a field that is there twice is one of an operation's. There is no such operation for
 * a label, so that a patch may also be without fault, and then must pass at every level.
 */
export function faultyJsonPatch(strays: readonly Stray[]): { readonly text: string; readonly fields: string[] } {
  const operations: Partial<Record<Stray, [operation: string, field: string]>> = {
    top: ['{"op":"add","path":"/zzTop","value":1}', "zzTop"],
    nested: ['{"op":"add","path":"/zzNested","value":{"a":{"b":[1]}}}', "zzNested"],
    cased: ['{"op":"add","path":"/Immutable","value":true}', "Immutable"],
    meta: ['{"op":"add","path":"/metadata/zzMeta","value":"x"}', "zzMeta"],
    twice: ['{"op":"add","path":"/data/zzTwice","value":"1","value":"2"}', "].value"],
  };
  const pairs = strays.flatMap((stray) => (operations[stray] === undefined ? [] : [operations[stray]]));
  const keep = '{"op":"add","path":"/data","value":{"kept":"yes"}}';
  return {
    text: `[${[keep, ...pairs.map(([operation]) => operation)].join(",")}]`,
    fields: pairs.map(([, field]) => field),
  };
}
