import { eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import type { Answer } from "../../client/exchange.ts";
import { Collection, listOf, objectOf, succeeded } from "../../client/collection.ts";
import { isFailureStatus, shownAnswer, shownStatus } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * The operations on events, each once, at the paths of document 2: what they answer, what they take and what they refuse.
 * One run says all.
 */
export const eventsAreServedAsObjects = defineCheck({
  id: "events-are-served-as-objects",
  area: "events",
  property: "Events are a resource of their own group, with every operation of document 2.",
  requirements: [
    "events.served",
    "events.resource",
    "events.get",
    "events.list",
    "events.list-all",
    "events.list-fields",
    "events.watch",
    "events.create",
    "events.delete",
    "events.delete-status",
    "events.deletecollection-status",
    "events.delete-parameters",
    "events.errors",
    "events.paths",
  ],
  features: ["events", "namespaces", "watch"],
  async run(attempt) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const namespace = await attempt.target.namespace();
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const everywhere = new Collection(attempt.client, `/apis/${groupVersion}/events`, attempt.target);
    const event = (name: string) => eventOf(groupVersion, name, reportAbout(namespace), { team: name });
    const says = (requirement: string, holds: boolean, expected: string, answer: Answer) =>
      attempt.expect(requirement, holds, expected, shownAnswer(answer));

    const before = listOf(await events.list());
    const watch = await attempt.answeredWatch(() => events.watch({ resourceVersion: before.resourceVersion }));
    const created = await events.create(event("a"));
    const made = objectOf(created, "events.create");
    says("events.create", made["kind"] === "Event" && made["apiVersion"] === groupVersion, "an Event", created);
    attempt.holds("events.served", undefined);
    attempt.holds("events.resource", undefined);
    const got = objectOf(await events.get("a"), "events.get");
    attempt.expect("events.get", got.metadata.uid === made.metadata.uid, "the event", JSON.stringify(got.metadata));

    await judgeLists(attempt, events, everywhere, groupVersion);
    await judgeErrors(attempt, events, event, got.metadata.resourceVersion ?? "");

    const deletions = { gracePeriodSeconds: 5, propagationPolicy: "Background" };
    const dry = await events.delete("a", undefined, { query: { ...deletions, dryRun: "All", pretty: "true" } });
    says("events.delete-parameters", dry.status === 200 || dry.status === 202, "a dry deletion", dry);
    says("events.delete-parameters", (await events.get("a")).status === 200, "the event after a dry deletion", dry);
    const deleted = await events.delete("a", deletions);
    succeeded(deleted, "events.delete", [200, 202]);
    const gone = await events.get("a");
    says("events.delete", gone.status === 404, "404 for the deleted event", gone);
    says("events.delete-status", isStatus(deleted), "a Status", deleted);
    objectOf(await events.create(event("b")), "events.create");
    const some = { labelSelector: "team=b", limit: 500, timeoutSeconds: 10 };
    for (const query of [
      { ...some, dryRun: "All" },
      { ...some, fieldSelector: "metadata.name=other" },
    ]) {
      succeeded(await events.deleteCollection({ query }), "events.delete-parameters", [200]);
      const kept = await events.get("b");
      says("events.delete-parameters", kept.status === 200, `b after a deletion with ${JSON.stringify(query)}`, kept);
    }
    const all = await events.deleteCollection({ query: { ...some, fieldSelector: "metadata.name=b" } });
    succeeded(all, "events.deletecollection", [200]);
    const promise = isStatus(all) ? undefined : { expected: "a Status", actual: all.text.slice(0, 200) };
    attempt.holdsOrDeviates(
      "deletecollection-answers-list",
      "events.deletecollection-status",
      promise,
      isJsonObject(all.json) && all.json["kind"] === "EventList",
    );

    const complete = await watch.until(() => watch.events.filter(({ type }) => type === "DELETED").length >= 2);
    const told = watch.events.map(({ type }) => type).filter((type) => type !== "BOOKMARK");
    const isBrokenOff = watch.ended !== undefined;
    watch.close();
    if (!complete && (isBrokenOff || told.length < 4))
      throw new Inconclusive(`${told.join()} and no more on the watch of events`);
    const story = told.join();
    attempt.expect("events.watch", /^ADDED,(MODIFIED,)*DELETED,ADDED,DELETED$/.test(story), "two lives", story);

    const nowhere = await everywhere.client.request("POST", everywhere.path, { body: event("c") });
    says("events.paths", nowhere.status === 404 || nowhere.status === 405, "no create without a namespace", nowhere);
  },
});

async function judgeLists(
  attempt: Attempt,
  events: Collection,
  everywhere: Collection,
  groupVersion: string,
): Promise<void> {
  for (const [requirement, collection] of [
    ["events.list", events],
    ["events.list-all", everywhere],
  ] as const) {
    const answer = await collection.list({ labelSelector: "team=a" });
    const { items } = listOf(answer);
    const own = items.filter((item) => item.metadata.namespace === events.path.split("/").at(-2));
    attempt.expect(requirement, own.length === 1, "the one event", `${own.length} events`);
    const list = answer.json as JsonObject;
    const shown = `${String(list["apiVersion"])} ${String(list["kind"])}`;
    attempt.expect("events.list-fields", shown === `${groupVersion} EventList`, `${groupVersion} EventList`, shown);
  }
}

/** 400 under Strict, 409 for a stale update, 404 for what is absent: each a Status. */
async function judgeErrors(
  attempt: Attempt,
  events: Collection,
  event: (name: string) => JsonObject,
  version: string,
): Promise<void> {
  const stray = await events.create({ ...event("s"), stray: 1 }, { query: { fieldValidation: "Strict" } });
  objectOf(await events.patch("a", "merge", { metadata: { labels: { changed: "yes" } } }), "events.patch");
  const body = event("a");
  const stale = await events.put("a", {
    ...body,
    metadata: { ...(body["metadata"] as JsonObject), resourceVersion: version },
  });
  const absent = await events.get("absent");
  for (const [answer, expected] of [
    [stray, "400 BadRequest"],
    [stale, "409 Conflict"],
    [absent, "404 NotFound"],
  ] as const) {
    // The documents promise the code; which words go with it is judged among the errors.
    const fits = shownStatus(answer) === expected || shownStatus(answer) === expected.split(" ")[0];
    attempt.expect("events.errors", fits && isFailureStatus(answer), `a Status ${expected}`, shownAnswer(answer));
  }
}

const isStatus = ({ json }: Answer): boolean => isJsonObject(json) && json["kind"] === "Status";
