/** What a dry write has to answer as the real one does, and what each request has of its own. */
import { compareBytes } from "../../wire/go-strings.ts";
import { isApiObject, type Json, type JsonObject } from "../client/types.ts";
import { withoutEmpty } from "./json-values.ts";
import { entriesOf } from "./managed-fields.ts";

/**
 * An answer without what is generated for each request, and without where it was sent. Of times only whether they are
 * there counts; of a name that begins with `generateName` only the beginning. Managers are in order of their times, and so
 * in any order, where each request may come to a server with another clock.
 */
export function withoutGenerated(document: Json | undefined, generateName?: string): Json | undefined {
  if (!isApiObject(document)) return withoutEmpty(document);
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp,
    deletionTimestamp,
    namespace: _namespace,
    ...rest
  } = document.metadata;
  const managed = entriesOf(document)
    .map(({ time: _time, ...entry }) => entry)
    .toSorted((left, right) => compareBytes(whoIn(left), whoIn(right)));
  const isGenerated = generateName !== undefined && rest.name.startsWith(generateName);
  const name = isGenerated ? generateName : rest.name;
  const times = { created: creationTimestamp != null, deleted: deletionTimestamp != null };
  return withoutEmpty({ ...document, metadata: { ...rest, name, managedFields: managed, ...times } });
}

const whoIn = ({ manager, operation, subresource, apiVersion }: JsonObject): string =>
  JSON.stringify([manager, operation, subresource, apiVersion]);

/** Which of the two a create is answered is left open. */
const isMade = (status: number): boolean => status === 200 || status === 201;

/** Whether a dry write's code is the real one's. */
export const isSameCode = (dry: number, real: number): boolean => dry === real || (isMade(dry) && isMade(real));
