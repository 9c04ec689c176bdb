import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject } from "../../client/types.ts";
import { logOf } from "../../model/history.ts";
import { everything, judgeSameEvents, project } from "../../model/projection.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { runLabel } from "../../runner/sandbox.ts";

/**
 * Property: a watch of all namespaces for one name takes objects of that name in several namespaces for what they are:
 * several objects, each added once and deleted once.
 */
export const watchSelectsNamesEverywhere = defineCheck({
  id: "watch-selects-names-everywhere",
  area: "watch",
  property: "A name selector over all namespaces keeps objects of the same name apart.",
  requirements: ["watch.filtered", "objects.scoped-name", "objects.all-namespaces"],
  features: ["configmaps", "namespaces", "watch"],
  input: fc.record({
    steps: fc.array(
      fc.record({ suffix: fc.constantFrom("", "b", "-b"), do: fc.constantFrom("create", "label", "delete") }),
      {
        minLength: 2,
        maxLength: 8,
      },
    ),
    startsWith: fc.constantFrom("version", "nothing"),
  }),
  async run(attempt, { steps, startsWith }) {
    const name = "same-name";
    const labels = { [runLabel]: attempt.target.label, attempt: attempt.target.name };
    const everywhere = attempt.target.everywhere("configmaps");
    const query = { fieldSelector: `metadata.name=${name}`, labelSelector: `attempt=${labels.attempt}` };
    const { resourceVersion } = await everywhere.readList(query);
    const full = await attempt.openWatch(everywhere, { labelSelector: query.labelSelector, resourceVersion });
    const named = await attempt.openWatch(everywhere, startsWith === "version" ? { ...query, resourceVersion } : query);
    for (const step of steps) {
      const collection = await attempt.target.collection("configmaps", step.suffix);
      if (step.do === "create") await collection.create(configMap(name, { labels }));
      else if (step.do === "label")
        await collection.patch(name, "merge", { metadata: { labels: { [`l${steps.indexOf(step)}`]: "x" } } });
      else await collection.delete(name);
    }
    // The last write is a fence that both watches see: the same name once more, in a namespace of its own.
    const last = await attempt.target.collection("configmaps", "-fence");
    const fence: ApiObject = objectOf(await last.create(configMap(name, { labels })));
    const fullLog = logOf(await attempt.untilFence(full, fence));
    const namedLog = logOf(await attempt.untilFence(named, fence));
    const expected = project(new Map(), fullLog, everything);
    attempt.holds("objects.scoped-name", judgeSameEvents(expected, fullLog));
    attempt.holds("watch.filtered", judgeSameEvents(fullLog, namedLog));
    const listed = await everywhere.readList(query);
    attempt.expect(
      "objects.all-namespaces",
      listed.items.length === countLiving(fullLog) + 1,
      `${countLiving(fullLog) + 1} objects called ${name} over all namespaces`,
      listed.items.map((item) => item.metadata.namespace).join(", "),
    );
  },
});

function countLiving(log: ReturnType<typeof logOf>): number {
  const living = new Set<string>();
  for (const event of log) {
    if (event.type === "DELETED") living.delete(event.key);
    else living.add(event.key);
  }
  return living.size;
}
