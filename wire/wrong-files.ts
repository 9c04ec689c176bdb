/** Of a file that somebody has given in place of another one, or with a misspelt field, what is worth saying: one line. */
import { nearNames } from "./near-names.ts";

/** What people have at hand, by its apiVersion. */
const knownFiles: ReadonlyMap<string, string> = new Map([
  ["scenarios/v1", "a scenario, for `touchstone run`"],
  ["chaos/v1", "a plan of chaos, for `touchstone serve --chaos`"],
  ["capacity/v1", "an experiment on capacity, for `touchstone capacity`"],
  ["capsules/v1", "a capsule, for `touchstone replay`"],
  ["baselines/v1", "a baseline, for `touchstone conform --baseline`"],
  ["reports/v1", "a report, for `touchstone view`"],
  ["capacity-reports/v1", "a report on capacity, for `touchstone capacity compare`"],
]);

export interface WantedFile {
  /** Its apiVersion; undefined for a file that has none. */
  readonly version: string | undefined;
  /** All fields that may be there, and those that must be. */
  readonly fields: readonly string[];
  readonly required: readonly string[];
}

/** Longer files are not looked through for misspelt fields. */
const fieldsMax = 200;

/**
 * What there is instead of the file that is wanted, where it is another one altogether: all of it would be a mistake.
 * `field` is where that is seen. Undefined for the file that is wanted, however much is wrong in it.
 */
export function otherFile(value: unknown, wanted: WantedFile): { readonly field?: string; text: string } | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { apiVersion, kind } = value as { readonly apiVersion?: unknown; readonly kind?: unknown };
  const { version, fields, required } = wanted;
  if (version !== undefined && apiVersion === version) return undefined;
  const names = Object.keys(value).filter((name) => name !== "apiVersion");
  const familiar = names.filter(
    (name) => fields.includes(name) || (names.length <= fieldsMax && nearNames(name, fields).length > 0),
  );
  const isForeign = 2 * familiar.length < names.length;
  const known = typeof apiVersion === "string" ? knownFiles.get(apiVersion) : undefined;
  if (known !== undefined && (version !== undefined || isForeign))
    return { field: "apiVersion", text: `apiVersion: this is ${known}` };
  if (!isForeign) return undefined;
  const what = typeof kind === "string" ? `of kind ${kind}` : "something else";
  return { text: `this is ${what}: expected ${wantedText(version, required.length > 0 ? required : fields)}` };
}

function wantedText(version: string | undefined, fields: readonly string[]): string {
  if (version === undefined) return `${fields.length === 1 ? "" : "fields such as "}${fields.slice(0, 3).join(", ")}`;
  const known = knownFiles.get(version);
  return `${known === undefined ? "" : `${known}, with `}apiVersion: ${version}`;
}

/** What a schema complains of. `path` is that of the object, for fields that it does not know. */
interface Complaint {
  readonly path: readonly PropertyKey[];
  readonly code?: string | undefined;
  readonly keys?: readonly string[];
}

/**
 * Without what only follows from a misspelt field: that the field which was meant is missing, and that the object does not
 * say what it has to say. `fieldsAt` tells what may stand in the object at a path.
 */
export function withoutConsequences<Issue extends Complaint>(
  issues: readonly Issue[],
  value: unknown,
  fieldsAt: (path: readonly PropertyKey[]) => readonly string[],
): readonly Issue[] {
  const misspelt = issues
    .filter(({ code }) => code === "unrecognized_keys")
    .slice(0, objectsMax)
    .flatMap(({ path, keys = [] }) => {
      const fields = fieldsAt(path);
      const meant = keys.slice(0, fieldsMax).flatMap((key) => nearNames(key, fields));
      return meant.length === 0 ? [] : [{ place: placeOf(path), meant }];
    });
  return issues.filter(({ path, code }) => {
    if (code === "custom" && misspelt.some(({ place }) => place === placeOf(path))) return false;
    const isMeant = misspelt.some(
      ({ place, meant }) => place === placeOf(path.slice(0, -1)) && meant.includes(String(path.at(-1))),
    );
    return !isMeant || path.length === 0 || valueAt(value, path) !== undefined;
  });
}

/** Fields of more objects are told by nobody. */
const objectsMax = 10;

const placeOf = (path: readonly PropertyKey[]): string => path.map(String).join("/");

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
