import { objectOf } from "../../client/collection.ts";
import { isApiObject, isJsonObject, type JsonObject } from "../../client/types.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

const schema: JsonObject = {
  type: "object",
  properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
};

/**
 * Property: a defined resource lives as others do; when its definition changes or goes, no watch is left behind that
 * would wait for events which cannot come.
 */
export const definitionsAreServedUntilTheyGo = defineCheck({
  id: "definitions-are-served-until-they-go",
  area: "custom-resources",
  property: "A defined resource is served like others, and its watches end when its definition changes or goes.",
  requirements: ["custom-resources.served", "custom-resources.streams-end", "custom-resources.deletion"],
  features: ["namespaces", "watch"],
  cost: "slow",
  async run(attempt) {
    await withDefinition(attempt, schema, async (definition) => {
      const { widgets, widget, path } = definition;
      const before = await widgets.readList();
      const life = await attempt.openWatch(widgets, { resourceVersion: before.resourceVersion });
      objectOf(await widgets.create(widget("a", { spec: { size: 1 } })), "custom-resources.served");
      objectOf(await widgets.patch("a", "merge", { spec: { size: 2 } }), "custom-resources.served");
      objectOf(await widgets.create(widget("b")), "custom-resources.served");
      const deleted = await widgets.delete("b");
      const list = await widgets.list();
      const kind = isJsonObject(list.json) ? `${list.json["apiVersion"]} ${list.json["kind"]}` : list.text;
      const wanted = `${definition.apiVersion} WidgetList`;
      attempt.expect("custom-resources.served", kind === wanted, wanted, kind);
      const names = (await widgets.readList()).items.map((item) => item.metadata.name).join();
      attempt.expect(
        "custom-resources.served",
        deleted.status < 300 && names === "a",
        "a alone after b was deleted",
        `${deleted.status}: ${names}`,
      );
      await life.until(() => life.events.length >= 4);
      const told = life.events.map(({ type, object }) => `${type} ${isApiObject(object) ? object.metadata.name : ""}`);
      const story = "ADDED a, MODIFIED a, ADDED b, DELETED b";
      if (told.length >= 4) {
        attempt.expect("custom-resources.served", told.slice(0, 4).join(", ") === story, story, told.join(", "));
      }

      const changed = await attempt.client.request("PATCH", path, {
        body: { spec: { names: { shortNames: ["wi"] } } },
        contentType: "application/merge-patch+json",
      });
      objectOf(changed, "custom-resources.served");
      await judgeEnd(attempt, life, "changed");
      const servedAgain = await pollUntil(attempt, attempt.clock.nowMillis() + 60_000, async () =>
        (await widgets.list()).status === 200 ? true : undefined,
      );
      attempt.expect("custom-resources.streams-end", servedAgain === true, "served after the change", "not served");
      const again = await attempt.openWatch(widgets);
      const seen = await again.until(() => again.events.some(({ type }) => type === "ADDED"));
      attempt.expect("custom-resources.streams-end", seen, "a new watch that begins with a", "no ADDED event");

      await definition.remove();
      await judgeEnd(attempt, again, "gone");
      const gone = await widgets.list();
      attempt.expect("custom-resources.deletion", gone.status === 404, "404 for the list", String(gone.status));
      await definition.define();
      const left = (await widgets.readList()).items.length;
      attempt.expect("custom-resources.deletion", left === 0, "no object under the new definition", `${left} objects`);
    });
  },
});

/** The row's own bound. */
const endMillisMax = 180_000;

async function judgeEnd(attempt: Attempt, watch: WatchStream, what: string): Promise<void> {
  const ended = await watch.untilEnded(endMillisMax);
  const expected = `a watch that ends within ${endMillisMax} ms of its definition being ${what}`;
  attempt.expect("custom-resources.streams-end", ended, expected, `open, with ${watch.events.length} events`);
}
