/**
 * What makes an object unfit to be stored. The order of causes, and which appear twice, is the observed server's: an
 * update judges metadata once for all types and once for the kind.
 * Source: the facts, section 4; recorded answers (05-patch/merge-uid-change).
 */
import { type Faults, faultsOn } from "../../faults/server-faults.ts";
import type { Cause } from "../errors.ts";
import type { JsonObject } from "../http-message.ts";
import { metadataCauses, metadataUpdateCauses } from "./metadata.ts";
import type { Strategy } from "./strategies.ts";
import { type Draft, metadataOf } from "./types.ts";

const noFaults = faultsOn();

/** Causes for refusing a new object; empty when it may be stored. */
export function validateCreate(object: JsonObject | Draft, strategy: Strategy, faults = noFaults): readonly Cause[] {
  const causes = metadataCauses(metadataOf(object), strategy);
  strategy.rules.validate?.(object as JsonObject, causes, strategy.dialect);
  return faults["event-series-count-one"] ? causes.filter(({ field }) => field !== "series.count") : causes;
}

/** Causes for refusing a change of `live` to `object`; empty when it may be stored. */
export function validateUpdate(
  object: JsonObject | Draft,
  live: JsonObject,
  strategy: Strategy,
  faults: Faults,
  subresource = "",
): readonly Cause[] {
  const metadata = metadataOf(object);
  const common = metadataCauses(metadata, { ...strategy, nameRule: "pathSegment", knownFinalizersOnly: false });
  const step = metadataUpdateCauses(metadata, metadataOf(live)).filter(
    (cause) => !faults["deletiontimestamp-client-settable"] || !cause.field?.startsWith("metadata.deletion"),
  );
  const own = metadataCauses(metadata, strategy);
  return [...common, ...step, ...step, ...own, ...kindCauses(object as JsonObject, live, strategy, subresource)];
}

function kindCauses(object: JsonObject, live: JsonObject, { rules, dialect }: Strategy, subresource: string): Cause[] {
  const causes: Cause[] = [];
  if (subresource === "status" && rules.validateStatus !== undefined) rules.validateStatus(object, live, causes);
  else if (rules.stepFirst === true) {
    rules.validateUpdate?.(object, live, causes, subresource, dialect);
    rules.validate?.(object, causes, dialect, live);
  } else {
    rules.validate?.(object, causes, dialect, live);
    rules.validateUpdate?.(object, live, causes, subresource, dialect);
  }
  return causes;
}
