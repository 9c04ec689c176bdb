/** What differs between resources, as far as the functions on objects ask for it. `sim/kinds` has the rows. */
import type { Dialect } from "../../wire/dialect.ts";
import type { TypeRow } from "../../wire/schema.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { KindRules } from "./kind-rules.ts";
import type { QuotaUse } from "./quota-use.ts";
import type { NameRule } from "./metadata.ts";

export type PropagationDefault = "Background" | "Orphan" | "unsupported";

export interface StrategyRow {
  readonly nameRule: NameRule;
  /** PUT of an absent object creates it. */
  readonly createOnUpdate: boolean;
  /** PUT without resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** metadata.generation counts changes of the desired state. */
  readonly usesGeneration: boolean;
  /** Creation forgets a client's status. */
  readonly resetsStatus: boolean;
  /** Deletion waits for a grace period. */
  readonly graceful: boolean;
  /** A completed deletion answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** What a deletion without propagationPolicy does with dependents. */
  readonly propagation: PropagationDefault;
  /** Fields of metadata that a status request cannot write. */
  readonly statusLocks: readonly string[];
  /** Whoever tries to write them owns them all the same, as recorded of custom resources. */
  readonly statusOwnsLocked?: boolean;
  /** The server gives out addresses and ports to its objects. */
  readonly allocatesAddresses: boolean;
  /** Others live in it: its deletion waits for the finalizers in its spec, and some cannot be deleted at all. */
  readonly isEmptiedFirst: boolean;
  /** What quotas count beside the number of objects. */
  readonly quota?: QuotaUse;
}

export interface Strategy extends StrategyRow {
  readonly type: TypeRow;
  /**
   * The kind's type in another version, in which those who wrote through that version are compared; undefined for a
   * version that there is not, whose owners are forgotten. Without it they are left as they are.
   */
  readonly typeIn?: (apiVersion: string) => TypeRow | undefined;
  readonly kind: string;
  /** Group in the `svc` dialect; "" for the core group. */
  readonly group: string;
  /** The group that a 422 names, in the dialect: none for events, in whichever of their groups. */
  readonly errorGroup: string;
  readonly namespaced: boolean;
  readonly dialect: Dialect;
  /** There is a status subresource: the object's own path does not write status. */
  readonly hasStatus: boolean;
  /** An unset status as the wire shows it; undefined when the type shows none. */
  readonly zeroStatus: JsonObject | undefined;
  /** Finalizers without a domain must be standard ones. */
  readonly knownFinalizersOnly: boolean;
  readonly rules: KindRules;
}
