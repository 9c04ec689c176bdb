import { kubernetesDialect } from "../../wire/dialect.ts";
import type { SuiteProfile } from "./profile.ts";

/** kube-apiserver 1.33 with default feature gates, as observed. */
const kubernetes133: SuiteProfile = {
  name: "kubernetes",
  dialect: kubernetesDialect,
  invalidOptionStatuses: [400, 422],
  unparsableVersionStatuses: [400],
  unservedPatchStatuses: [415],
  acceptTies: "first",
  eventRules: "refused",
  serviceNames: "letter-first",
  forgets: "changes",
  forgottenVersion: "1", // a cache starts with what is stored when the server starts, and knows nothing of before
  deviations: [
    {
      name: "exact-future-is-500",
      requirement: "versions.future-exact",
      reason: "the storage's own error for a future revision is not translated in 1.33",
      instead: "500 without a reason",
    },
    {
      name: "watch-too-old-is-event",
      requirement: "expiry.watch-gone",
      reason: "the watch has begun before the cache finds that the version is too old",
      instead: "200 and one ERROR event with code 410 and reason Expired",
    },
    {
      name: "watch-unset-begins-anywhere",
      requirement: "watch.initial-most-recent",
      reason: "a watch without version is served from the cache, like one from version 0",
      instead: "a beginning that may be older than the newest acknowledged write",
      sometimes: true,
    },
    {
      name: "bookmark-has-empty-fields",
      requirement: "bookmarks.bare",
      reason: "the bookmark is an object of the type, and empty fields of the type are written out",
      instead: "kind, apiVersion, a null creationTimestamp and empty or null fields beside the version",
    },
    {
      name: "limit-ignored-at-zero",
      requirement: "pages.limit",
      reason: "a list at version 0 is served whole from the cache",
      instead: "the whole collection without a token, whatever the limit",
    },
    {
      name: "put-creates-by-type",
      requirement: "writes.put-creates",
      reason: "most types allow creation by POST alone",
      instead: "404 for a PUT on a name that does not exist",
    },
    {
      name: "empty-dry-run-refused",
      requirement: "dry-run.empty",
      reason: "the empty value is validated like any other",
      instead: "a refusal, 422",
    },
    {
      name: "small-answers-are-plain",
      requirement: "compression.gzip",
      reason: "packing what fits into a few packets costs more than it saves",
      instead: "no content-encoding below 128 KiB",
    },
    {
      name: "custom-tables-show-age",
      requirement: "tables.default-columns",
      reason: "a definition without printer columns is given one that shows the age",
      instead: "the columns Name and Age for a custom resource",
    },
    {
      name: "deletecollection-answers-list",
      requirement: "events.deletecollection-status",
      reason: "what was deleted is answered as the list that it was",
      instead: "200 and an EventList",
    },
    {
      name: "authentication-anonymous",
      requirement: "authentication.unauthenticated",
      reason: "a caller without credentials is let in as the anonymous user, unless that is switched off",
      instead: "403 for system:anonymous, or what that user may do",
      sometimes: true,
    },
    {
      name: "events-anonymous",
      requirement: "events.unauthenticated",
      reason: "a caller without credentials is let in as the anonymous user, unless that is switched off",
      instead: "403 for system:anonymous, or what that user may do",
      sometimes: true,
    },
    {
      name: "claim-rules-say-nothing",
      requirement: "authentication-config.claim-expression",
      reason: "what a rule says of a token that it refuses goes into the log, and not to the caller",
      instead: "401 with the text Unauthorized alone",
    },
    {
      name: "user-rules-say-nothing",
      requirement: "authentication-config.user-message",
      reason: "what a rule says of a user that it refuses goes into the log, and not to the caller",
      instead: "401 with the text Unauthorized alone",
    },
    {
      name: "json-patch-replaces-absent",
      requirement: "writes.json-patch",
      reason: "the patch library reads a member that is absent as null, and replaces it",
      instead: "a replace of an absent member adds it",
    },
    {
      name: "json-patch-is-loose",
      requirement: "patch.json-rfc",
      reason: "the patch library reads absent members as null, and indices from the end or with leading zeros",
      instead: "200: absent members are replaced and copied, negative indices and leading zeros count",
    },
    {
      name: "json-patch-tests-from-the-end",
      requirement: "patch.test",
      reason: "the patch library reads absent members as null, and indices from the end or with leading zeros",
      instead: "200: a test holds at a negative index or one with leading zeros",
      sometimes: true,
    },
    {
      name: "strict-patch-is-422",
      requirement: "field-validation.strict",
      reason: "the patched object is decoded after the patch was applied, and is then refused as an invalid patch",
      instead: "422 for a JSON or merge patch, naming the fields",
    },
  ],
};

/** What 1.33 is declared to break and a later version keeps. */
const mendedIn136 = ["exact-future-is-500", "bookmark-has-empty-fields"];

/** The observed versions, by their minor number, oldest first. A further one is one more row. */
const observed: readonly (readonly [minor: number, profile: SuiteProfile])[] = [
  [33, kubernetes133],
  [
    36,
    {
      ...kubernetes133,
      serviceNames: "any-label", // unless its feature gate is switched off
      deviations: kubernetes133.deviations.filter(({ name }) => !mendedIn136.includes(name)),
    },
  ],
];

/** Of the version that is nearest to the one that the target says it has, as `v1.34.2`; of the oldest when it says none. */
export function kubernetesOf(version: string | undefined): SuiteProfile {
  const minor = Number(/^v?1\.(\d{1,4})\b/.exec(version ?? "")?.[1] ?? 33);
  const away = ([known]: (typeof observed)[number]): number => Math.abs(known - minor);
  return observed.reduce((nearest, row) => (away(row) < away(nearest) ? row : nearest))[1];
}

export const kubernetes: SuiteProfile = kubernetes133;
