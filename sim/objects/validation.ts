/**
 * What makes an object unfit to be stored. The order of causes, and which appear twice, is the observed server's: an
 * update judges metadata once for all types and once for the kind.
 * Source: the facts, section 4; recorded answers (05-patch/merge-uid-change).
 */
import { type Cause, toldCharactersMax } from "../contract/errors.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataCauses, type MetadataRules, metadataUpdateCauses } from "./metadata.ts";
import type { Strategy } from "./strategy.ts";
import { type Draft, metadataOf } from "../contract/objects.ts";

const fine: readonly Cause[] = [];

/** Causes for refusing a new object; empty when it may be stored. */
export function validateCreate(object: JsonObject | Draft, strategy: Strategy): readonly Cause[] {
  const causes = metadataCauses(metadataOf(object), strategy);
  strategy.rules.validate?.(object as JsonObject, causes, strategy.dialect);
  return withRoom(causes);
}

/** Causes for refusing a change of `live` to `object`; empty when it may be stored. */
export function validateUpdate(
  object: JsonObject | Draft,
  live: JsonObject,
  strategy: Strategy,
  subresource = "",
): readonly Cause[] {
  const metadata = metadataOf(object);
  const common = metadataCauses(metadata, commonRulesOf(strategy));
  const step = metadataUpdateCauses(metadata, metadataOf(live));
  const own = metadataCauses(metadata, strategy);
  const ofKind = kindCauses(object as JsonObject, live, strategy, subresource);
  if (common.length + step.length + own.length + ofKind.length === 0) return fine;
  return withRoom([...common, ...step, ...step, ...own, ...ofKind]);
}

const commonRules = new WeakMap<Strategy, MetadataRules>();

/** What an update judges for all types alike. */
function commonRulesOf(strategy: Strategy): MetadataRules {
  let rules = commonRules.get(strategy);
  if (rules === undefined) {
    const { namespaced, dialect } = strategy;
    rules = { nameRule: "pathSegment", namespaced, knownFinalizersOnly: false, dialect };
    commonRules.set(strategy, rules);
  }
  return rules;
}

function kindCauses(object: JsonObject, live: JsonObject, { rules, dialect }: Strategy, subresource: string): Cause[] {
  const causes: Cause[] = [];
  if (subresource === "status" && rules.validateStatus !== undefined) {
    rules.validateStatus(object, live, causes, dialect);
  } else if (rules.stepFirst === true) {
    rules.validateUpdate?.(object, live, causes, subresource, dialect);
    rules.validate?.(object, causes, dialect, live);
  } else {
    rules.validate?.(object, causes, dialect, live);
    rules.validateUpdate?.(object, live, causes, subresource, dialect);
  }
  return causes;
}

function withRoom(causes: readonly Cause[]): readonly Cause[] {
  let charactersLeft = toldCharactersMax;
  const last = causes.findIndex(({ message, field = "" }) => (charactersLeft -= message.length + field.length) < 0);
  return last < 0 ? causes : causes.slice(0, last + 1);
}
