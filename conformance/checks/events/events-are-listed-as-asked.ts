import fc from "fast-check";
import { eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import type { Query } from "../../client/client.ts";
import { Collection, objectOf } from "../../client/collection.ts";
import { Inconclusive, type Violation } from "../../client/findings.ts";
import type { ApiList, ApiObject } from "../../client/types.ts";
import { judgeConstantVersion, judgeEnd, judgePageSizes, judgeSnapshot } from "../../model/page-law.ts";
import { type State, stateOf } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const teams = ["a", "b"] as const;
type Team = (typeof teams)[number];

/** What a list is asked at: the newest state, any, one at least as new as a version, or exactly that one. */
const moments = ["unset", "zero", "plain", "NotOlderThan", "Exact"] as const;
type Moment = (typeof moments)[number];

/**
 * Property: each parameter of a list means for events what it means for any type: selectors select, a limit cuts one
 * snapshot into pages, and a version and its match choose the state that is shown; a watch minds its own.
 * Method: events of two teams, a list, and then one event less and one more; a model says which states an answer may
 * show. Over all namespaces, a label that nobody else uses leaves the attempt's own events.
 */
export const eventsAreListedAsAsked = defineCheck({
  id: "events-are-listed-as-asked",
  area: "events",
  property: "Lists and watches of events mind selectors, limits, versions and time.",
  requirements: ["events.list-parameters"],
  features: ["events", "namespaces", "watch"],
  cost: "waiting",
  input: fc.record({
    events: fc.array(fc.constantFrom(...teams), { minLength: 2, maxLength: 5 }),
    moment: fc.constantFrom(...moments),
    limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    select: fc.option(fc.constantFrom<"team" | "name" | "reason">("team", "name", "reason")),
    everywhere: fc.boolean(),
    watched: fc.nat(5).map((drawn) => drawn === 0),
  }),
  examples: [
    { events: ["a", "b", "a"], moment: "Exact", limit: undefined, select: null, everywhere: false, watched: false },
    { events: ["a", "b", "a"], moment: "unset", limit: 2, select: "team", everywhere: true, watched: true },
    { events: ["a", "b"], moment: "NotOlderThan", limit: undefined, select: "name", everywhere: false, watched: true },
  ],
  async run(attempt, { events: drawn, moment, limit, select, everywhere, watched }) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const namespace = await attempt.target.namespace();
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const asked = everywhere ? new Collection(attempt.client, `/apis/${groupVersion}/events`, attempt.target) : events;
    const report = (team: Team) => reportAbout(namespace, { reason: reasonOf(team) });
    const create = async (name: string, team: Team) =>
      objectOf(await events.create(eventOf(groupVersion, name, report(team), { team, own: namespace })));
    for (const [index, team] of drawn.entries()) await create(`e${index}`, team);
    const own = (items: readonly ApiObject[]) => items.filter((item) => item.metadata.namespace === namespace);
    const before = await events.readList();
    await events.delete("e0");
    await create("later", "a");
    const after = await events.readList();

    const filter = filterOf(select, everywhere ? namespace : undefined);
    const query: Query = { ...filter.query, ...versionOf(moment, before.resourceVersion), limit };
    const pages = await asked.pages(query, async (_page, index) => void (await create(`between-${index}`, "a")));
    const shown = pages.map((page) => ({ ...page, items: own(page.items) }));
    const states = statesAt(moment, limit !== undefined, before, after).map((list) =>
      stateOf(own(list.items).filter(filter.chooses)),
    );
    const says = (violation: Violation | undefined) => attempt.holds("events.list-parameters", violation);
    // At version 0 an answer may come whole, and from any time: that it is one state is all that is left.
    if (limit !== undefined && moment !== "zero") says(judgePageSizes(pages, limit));
    says(judgeConstantVersion(pages));
    says(judgeEnd(pages, select !== null || everywhere));
    if (moment !== "zero") says(judgeOneOf(shown, states));
    if (isExact(moment, limit)) {
      const { resourceVersion } = pages[0] as ApiList;
      const expected = `version ${before.resourceVersion}, exactly`;
      says(resourceVersion === before.resourceVersion ? undefined : { expected, actual: resourceVersion });
    }
    const counted = pages.find(({ remainingItemCount }) => remainingItemCount !== undefined);
    const isCounted = (select !== null || everywhere) && counted !== undefined;
    says(isCounted ? { expected: "no count beside a selector", actual: `${counted?.remainingItemCount}` } : undefined);
    if (!watched) return;
    await judgeWatch(attempt, asked, { ...filter.query, resourceVersion: before.resourceVersion }, filter.chooses, [
      ...own(before.items).filter((item) => item.metadata.name === "e0"),
      ...own(after.items).filter((item) => item.metadata.name === "later"),
    ]);
  },
});

/** From the list on: what the selector chooses of the two changes, and an end at the time that was asked for. */
async function judgeWatch(
  attempt: Attempt,
  asked: Collection,
  query: Query,
  chooses: (item: ApiObject) => boolean,
  changed: readonly ApiObject[],
): Promise<void> {
  const watch = await attempt.openWatch(asked, { ...query, timeoutSeconds, allowWatchBookmarks: true });
  const expected = changed.filter(chooses).map(({ metadata }) => metadata.name);
  const ended = await watch.untilEnded((timeoutSeconds + patienceSeconds) * 1000);
  const told = watch.events
    .map(({ object }) => String((object["metadata"] as ApiObject["metadata"] | undefined)?.name))
    .filter((name) => name === "e0" || name === "later");
  watch.close();
  const isWrong = told.some((name, index) => name !== expected[index]);
  const said = `${told.join(", ") || "nothing"}, ${ended ? "and an end" : "no end"}`;
  const wanted = `${expected.join(", ") || "nothing"}, and an end after ${timeoutSeconds} s`;
  attempt.expect("events.list-parameters", ended && !isWrong, `told: ${wanted}`, said);
  // A stream may end before its time, and no event has one.
  if (told.length < expected.length) throw new Inconclusive(`a watch of events told ${said}, and not ${wanted}`);
}

const timeoutSeconds = 1;
const patienceSeconds = 20;

const reasonOf = (team: Team): string => (team === "a" ? "Scheduled" : "Pulled");

interface Filter {
  readonly query: Query;
  readonly chooses: (item: ApiObject) => boolean;
}

function filterOf(select: "team" | "name" | "reason" | null, own: string | undefined): Filter {
  const labels = [...(select === "team" ? ["team=a"] : []), ...(own === undefined ? [] : [`own=${own}`])];
  const fields = select === "name" ? "metadata.name!=e1" : select === "reason" ? "reason=Scheduled" : undefined;
  return {
    query: { labelSelector: labels.length === 0 ? undefined : labels.join(), fieldSelector: fields },
    chooses: (item) =>
      select === null ||
      (select === "team" && item.metadata.labels?.["team"] === "a") ||
      (select === "name" && item.metadata.name !== "e1") ||
      (select === "reason" && item["reason"] === "Scheduled"),
  };
}

function versionOf(moment: Moment, resourceVersion: string): Query {
  if (moment === "unset") return {};
  if (moment === "zero") return { resourceVersion: "0" };
  return moment === "plain" ? { resourceVersion } : { resourceVersion, resourceVersionMatch: moment };
}

/** With a limit, a version that stands alone is meant exactly. */
const isExact = (moment: Moment, limit: number | undefined): boolean =>
  moment === "Exact" || (moment === "plain" && limit !== undefined);

function statesAt(moment: Moment, limited: boolean, before: ApiList, after: ApiList): readonly ApiList[] {
  if (moment === "Exact" || (moment === "plain" && limited)) return [before];
  return moment === "unset" ? [after] : [before, between(before), after];
}

/** After the deletion, and before the create. */
const between = (before: ApiList): ApiList => ({
  ...before,
  items: before.items.filter(({ metadata }) => metadata.name !== "e0"),
});

/** The pages are one of the states: undefined, or how they differ from the last. */
function judgeOneOf(pages: readonly ApiList[], states: readonly State[]): Violation | undefined {
  const violations = states.map((state) => judgeSnapshot(pages, state));
  return violations.includes(undefined) ? undefined : violations.at(-1);
}
