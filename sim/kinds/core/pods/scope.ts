/** What the parts of a pod's spec are judged by beside themselves. */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Place } from "../../../objects/place.ts";

export interface PodScope {
  readonly spec: JsonObject;
  /** The pod's name; undefined in a template. */
  readonly pod: string | undefined;
  /** The pod's volumes whose source is right, by name: those that may be mounted. */
  volumes: ReadonlyMap<string, JsonObject>;
  /** Of the volume that is being judged. */
  volumeName: string;
  /** The claims that containers may use, by name. */
  claims: ReadonlySet<string>;
  /** Of the containers that have been judged: which of them has the name. Kept while the judgement is broken off. */
  readonly containerNames: Map<string, string>;
}

export const scopeOf = (at: Place): PodScope => at.scope as PodScope;
