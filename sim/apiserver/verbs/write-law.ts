/**
 * What becomes of an object between its request and the store: the steps of a write, in their order. The verbs take them from the
 * request's writer. What stands in brackets lies between them, and is the verbs' own.
 *
 * | step             | of a             | what it says                                                                  |
 * |------------------|------------------|-------------------------------------------------------------------------------|
 * | (decoded)        | POST, PUT        | the body, with its defaults                                                   |
 * | (patched)        | PATCH            | what the patch makes of the live object                                       |
 * | apply            | PATCH            | the same of a configuration, and who owns which fields then                   |
 * | wipe             | POST             | forgets what only the server says of an object                                |
 * | track            | POST, PUT, PATCH | who wrote which fields                                                        |
 * | refusesCreation  | POST             | whether the namespace takes anything new                                      |
 * | (preconditions)  | DELETE           | whether the live object is the one that is meant                              |
 * | (admitted)       | any              | webhooks, policies and what else looks at a write                             |
 * | (version)        | PUT, PATCH       | whether the live object is the one that is meant                              |
 * | prepareForCreate | POST             | uid, times, a generated name, the generation, the first status                |
 * | validateCreate   | POST             | causes of a 422                                                               |
 * | prepareForUpdate | PUT, PATCH       | puts back what cannot be written here, and counts the generation              |
 * | validateUpdate   | PUT, PATCH       | causes of a 422                                                               |
 * | doomOf           | DELETE           | marks, times and finalizers of what is deleted; whether it goes at once       |
 * | removesItself    | PUT, PATCH       | whether the last finalizer of what is deleted has gone                        |
 * | changesNothing   | any but POST     | whether what is stored stays as it is, at its version                         |
 * | (stored)         | any              | by compare-and-set; when somebody else was faster, once more from the new one |
 */
import { refusesCreation } from "../admission/namespace-lifecycle.ts";
import { applyMigrating } from "../../objects/apply/last-applied.ts";
import { objectsEqual } from "../../objects/equality.ts";
import { trackManagedFields } from "../../objects/managed-fields.ts";
import { prepareForCreate, prepareForUpdate, wipeSystemFields } from "../../objects/system-fields.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";
import { doomOf, removesItself } from "./deletion.ts";

export const writeLaw = {
  apply: applyMigrating,
  wipe: wipeSystemFields,
  track: trackManagedFields,
  refusesCreation,
  prepareForCreate,
  prepareForUpdate,
  validateCreate,
  validateUpdate,
  doomOf,
  removesItself,
  changesNothing: objectsEqual,
} as const;

export type WriteLaw = typeof writeLaw;
