import fc from "fast-check";
import { eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import { listOf, objectOf } from "../../client/collection.ts";
import { isSelected, reportOf } from "../../model/event-rules.ts";
import { defineCheck } from "../../runner/define-check.ts";

const texts = {
  reason: ["Started", "Stopped"],
  type: ["Normal", "Warning"],
  reportingController: ["example.com/a", "example.com/b"],
  "regarding.name": ["p", "q"],
  "regarding.kind": ["Pod", "Node"],
} as const;
type Path = keyof typeof texts;
const paths = Object.keys(texts) as Path[];

const anyEvent = fc.record(
  Object.fromEntries(paths.map((path) => [path, fc.constantFrom<string>(...texts[path])])) as Record<
    Path,
    fc.Arbitrary<string>
  >,
);

/** Property: a field selector over what events say chooses the events that say it, in lists and in deletions. */
export const eventsAreFoundByWhatTheySay = defineCheck({
  id: "events-are-found-by-what-they-say",
  area: "events",
  property: "Events can be selected by what they regard, by reason, controller and type.",
  requirements: ["events.field-selectors", "events.list", "events.list-parameters", "events.deletecollection"],
  features: ["events", "namespaces"],
  input: fc.record({
    events: fc.array(anyEvent, { minLength: 1, maxLength: 5 }),
    path: fc.constantFrom(...paths),
    second: fc.boolean(),
  }),
  async run(attempt, { events: drawn, path, second }) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const namespace = await attempt.target.namespace();
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const reports = new Map(
      drawn.map((said, index) => [
        `e-${index}`,
        reportAbout(namespace, {
          reason: said.reason,
          type: said.type,
          reportingController: said.reportingController,
          regarding: { apiVersion: "v1", kind: said["regarding.kind"], namespace, name: said["regarding.name"] },
        }),
      ]),
    );
    for (const [name, report] of reports)
      objectOf(await events.create(eventOf(groupVersion, name, report)), "events.list");
    const value = texts[path][second ? 1 : 0];
    const query = { fieldSelector: `${path}=${value}` };
    const chosen = [...reports].filter(([, report]) => isSelected(reportOf(report, "own"), path, value));
    const wanted = names(chosen.map(([name]) => name));
    const answer = await events.list(query);
    attempt.expect("events.field-selectors", answer.status === 200, `a list with ${query.fieldSelector}`, answer.text);
    const found = names(attempt.target.own(events, listOf(answer).items).map((item) => item.metadata.name));
    attempt.expect("events.field-selectors", found === wanted, `${query.fieldSelector}: ${wanted}`, found);
    attempt.expect("events.list-parameters", found === wanted, `${query.fieldSelector}: ${wanted}`, found);

    const deleted = await events.deleteCollection({ query });
    attempt.expect("events.deletecollection", deleted.status === 200, "200", `${deleted.status} ${deleted.text}`);
    const left = names(attempt.target.own(events, (await events.readList()).items).map((item) => item.metadata.name));
    const kept = names([...reports.keys()].filter((name) => !chosen.some(([other]) => other === name)));
    attempt.expect("events.deletecollection", left === kept, `left: ${kept}`, left);
    attempt.holds("events.list", undefined);
  },
});

/** The order of a list is no question of what is selected. */
const names = (found: readonly string[]): string => found.toSorted().join();
