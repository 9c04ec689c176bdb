/**
 * What a namespace that is being deleted says of what is left in it, as conditions of its status: pure functions.
 * Source: the published namespace controller's condition types, reasons and messages.
 */
import { compareBytes } from "../../wire/go-strings.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";

/** What was found in a namespace after everything in it was asked to go. */
export class Remainder {
  /** Objects left, by `resource.group`. */
  readonly resources = new Map<string, number>();
  /** Objects left that wait for a finalizer, by its name. */
  readonly finalizers = new Map<string, number>();
  /** Why collections could not be emptied. */
  readonly failures: string[] = [];

  get isEmpty(): boolean {
    return this.resources.size === 0 && this.failures.length === 0;
  }

  /** Takes note of the objects that are left of a resource, if any. */
  add(resource: string, objects: readonly JsonObject[]): void {
    if (objects.length === 0) return;
    this.resources.set(resource, objects.length);
    for (const object of objects) {
      for (const finalizer of metadataOf(object).finalizers ?? []) {
        this.finalizers.set(finalizer, (this.finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }
}

interface Finding {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** `conditions` with those of the remainder, each in its place or else last; the very same list when nothing differs. */
export function conditionsAfter(
  conditions: readonly JsonObject[],
  remainder: Remainder,
  now: string,
): readonly JsonObject[] {
  return findingsOf(remainder).reduce((list, finding) => withFinding(list, finding, now), conditions);
}

function findingsOf({ resources, finalizers, failures }: Remainder): readonly Finding[] {
  const counts = (map: ReadonlyMap<string, number>, words: string): string =>
    [...map]
      .map(([name, count]) => `${name} ${words.replace("#", String(count))}`)
      .sort(compareBytes)
      .join(", ");
  const allRemoved = "All content successfully removed";
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      status: "False",
      reason: "ResourcesDiscovered",
      message: "All resources successfully discovered",
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      status: "False",
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    failures.length > 0
      ? {
          type: "NamespaceDeletionContentFailure",
          status: "True",
          reason: "ContentDeletionFailed",
          message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(", ")}`,
        }
      : {
          type: "NamespaceDeletionContentFailure",
          status: "False",
          reason: "ContentDeleted",
          message: "All content successfully deleted, may be waiting on finalization",
        },
    resources.size > 0
      ? {
          type: "NamespaceContentRemaining",
          status: "True",
          reason: "SomeResourcesRemain",
          message: `Some resources are remaining: ${counts(resources, "has # resource instances")}`,
        }
      : { type: "NamespaceContentRemaining", status: "False", reason: "ContentRemoved", message: allRemoved },
    finalizers.size > 0
      ? {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${counts(finalizers, "in # resource instances")}`,
        }
      : { type: "NamespaceFinalizersRemaining", status: "False", reason: "ContentRemoved", message: allRemoved },
  ];
}

function withFinding(
  conditions: readonly JsonObject[],
  { type, status, reason, message }: Finding,
  now: string,
): readonly JsonObject[] {
  const at = conditions.findIndex((each) => each["type"] === type);
  const before = conditions[at];
  if (before?.["status"] === status && before["reason"] === reason && before["message"] === message) return conditions;
  const isTurn = before?.["status"] !== status;
  const lastTransitionTime = isTurn ? now : (before?.["lastTransitionTime"] ?? now);
  const next: JsonObject = { type, status, lastTransitionTime, reason, message };
  return before === undefined ? [...conditions, next] : conditions.map((each, index) => (index === at ? next : each));
}
