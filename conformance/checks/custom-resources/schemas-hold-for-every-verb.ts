import fc from "fast-check";
import { anySchema, anyValueOf, doubledValues, strayEverywhere, wholeSchema } from "../../arbitraries/schemas.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import {
  type ApiObject,
  isApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  versionOf,
} from "../../client/types.ts";
import { sameJson } from "../../model/json-values.ts";
import { mergePatch } from "../../model/merge-patch.ts";
import { hasDoubles, type RecordNode, schemaText, shapedBy } from "../../model/schema-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { type CustomDefinition, withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

const verbs = ["post", "put", "json", "merge", "apply"] as const;
interface Step {
  readonly verb: (typeof verbs)[number];
  readonly value: Json;
}
interface Program {
  readonly node: RecordNode;
  readonly steps: readonly Step[];
}

/**
 * Property: what a schema says is dropped, filled in and refused holds whichever verb writes it and at whatever depth, and
 * every served version shows it so, in gets, lists and watches; a default that comes later is shown by what is older.
 * Method: random schemas and values; a model over the schema's parts says what must be kept.
 */
export const schemasHoldForEveryVerb = defineCheck<Program>({
  id: "schemas-hold-for-every-verb",
  area: "custom-resources",
  property: "A schema prunes, defaults and refuses alike for every verb, at every depth and in every version.",
  requirements: [
    "custom-resources.pruned",
    "custom-resources.defaults",
    "custom-resources.lists",
    "custom-resources.versions",
  ],
  features: ["namespaces", "watch"],
  cost: "slow",
  input: anySchema.chain((node) =>
    fc.record({
      node: fc.constant(node),
      steps: fc.array(fc.record({ verb: fc.constantFrom(...verbs), value: anyValueOf(node) }), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
  ),
  examples: [
    {
      node: wholeSchema,
      steps: verbs.flatMap((verb) => [strayEverywhere, ...doubledValues].map((value) => ({ verb, value }))),
    },
  ],
  async run(attempt, { node, steps }) {
    const schema = schemaOf(node, attempt.profile.dialect.extensionPrefix);
    await withDefinition(attempt, schema, (definition) => new SchemaPlay(attempt, definition, node).play(steps), {
      hasOther: true,
    });
  },
});

const schemaOf = (node: RecordNode, prefix: string): JsonObject => ({
  type: "object",
  properties: { spec: schemaText(node, prefix) },
});

const late = "late";

class SchemaPlay {
  private readonly attempt: Attempt;
  private readonly definition: CustomDefinition;
  private readonly node: RecordNode;
  private readonly states = new Map<string, Json>();
  private madeCount = 0;

  constructor(attempt: Attempt, definition: CustomDefinition, node: RecordNode) {
    this.attempt = attempt;
    this.definition = definition;
    this.node = node;
  }

  async play(steps: readonly Step[]): Promise<void> {
    const { attempt, definition } = this;
    const { widgets, otherWidgets, widget } = definition;
    const before = await widgets.readList();
    const watches = [
      await attempt.openWatch(widgets, { resourceVersion: before.resourceVersion }),
      await attempt.openWatch(otherWidgets, { resourceVersion: before.resourceVersion }),
    ];
    let stored = objectOf(await widgets.create(widget("a", { spec: {} })));
    this.isKept(stored, {}, "a create without fields");
    for (const step of steps) stored = (await this.write(step, stored)) ?? stored;
    await this.isShownEverywhere();
    const last = versionOf(stored);
    for (const watch of watches) {
      await watch.until(() =>
        watch.events.some(({ object }) => isApiObject(object) && object.metadata.resourceVersion === last),
      );
      for (const { object } of watch.events) {
        const expected = isApiObject(object) ? this.states.get(versionOf(object)) : undefined;
        if (expected !== undefined) this.expectSpec("custom-resources.versions", object, expected, "an event");
      }
      watch.close();
    }
    await this.defaultLater(last);
  }

  /** What the object then is; undefined where it is another object, or nothing changed. */
  private async write({ verb, value }: Step, stored: ApiObject): Promise<ApiObject | undefined> {
    const { attempt, node, definition } = this;
    const { widgets, widget } = definition;
    const shown = `${verb} of ${JSON.stringify(value)} with the schema ${JSON.stringify(schemaText(node, "x-"))}`;
    const sent = verb === "apply" ? shapedBy(withoutDefaults(node), withoutNulls(value)) : value;
    const wanted = verb === "merge" ? mergePatch(stored["spec"], value) : sent;
    const name = verb === "post" || verb === "apply" ? `made-${this.madeCount++}` : "a";
    const answer = await this.send(verb, name, sent, stored);
    if (hasDoubles(node, wanted)) {
      attempt.expect("custom-resources.lists", answer.status >= 400, `a refusal of ${shown}`, shownAnswer(answer));
      const there = await widgets.get(name);
      const isUntouched = name === "a" ? versionOf(objectOf(there)) === versionOf(stored) : there.status === 404;
      attempt.expect("custom-resources.lists", isUntouched, `nothing changed by ${shown}`, shownAnswer(there));
      return undefined;
    }
    const object = objectOf(answer, "custom-resources.pruned");
    this.isKept(object, wanted, shown);
    if (verb === "apply") {
      const again = objectOf(
        await widgets.patch(name, "apply", widget(name, { spec: sent }), { query: { fieldManager: "alpha" } }),
      );
      this.expectSpec("custom-resources.pruned", again, shapedBy(node, wanted), `${shown}, again`);
    }
    return name === "a" ? object : undefined;
  }

  private send(verb: Step["verb"], name: string, spec: Json, stored: ApiObject): Promise<Answer> {
    const { widgets, widget } = this.definition;
    switch (verb) {
      case "post":
        return widgets.create(widget(name, { spec }));
      case "put":
        return widgets.put(name, { ...stored, spec });
      case "json":
        return widgets.patch(name, "json", [{ op: "replace", path: "/spec", value: spec }]);
      case "merge":
        return widgets.patch(name, "merge", { spec });
      case "apply":
        return widgets.patch(name, "apply", widget(name, { spec }), { query: { fieldManager: "alpha" } });
    }
  }

  private isKept(object: ApiObject, wanted: Json, shown: string): void {
    const expected = shapedBy(this.node, wanted);
    const isPruned = sameJson(expected, shapedBy(this.node, object["spec"] ?? {}));
    this.expectSpec(
      isPruned && !hasStray(object["spec"]) ? "custom-resources.defaults" : "custom-resources.pruned",
      object,
      expected,
      shown,
    ); // prettier-ignore
    this.attempt.holds("custom-resources.pruned", undefined);
    this.states.set(versionOf(object), expected);
  }

  private expectSpec(requirement: string, object: JsonObject, expected: Json, shown: string): void {
    const isSame = sameJson(object["spec"] as Json | undefined, expected);
    const wanted = `spec ${JSON.stringify(expected)} after ${shown}`;
    this.attempt.expect(requirement, isSame, wanted, JSON.stringify(object["spec"]));
  }

  private async isShownEverywhere(): Promise<void> {
    const { widgets, otherWidgets } = this.definition;
    for (const [version, collection] of [
      ["v1", widgets],
      ["v2", otherWidgets],
    ] as const) {
      // prettier-ignore
      const { items } = await collection.readList();
      for (const item of items) {
        const expected = this.states.get(versionOf(item));
        if (expected === undefined) continue;
        this.expectSpec("custom-resources.versions", item, expected, `a list in ${version}`);
        const one = objectOf(await collection.get(item.metadata.name));
        this.expectSpec("custom-resources.versions", one, expected, `a get in ${version}`);
      }
    }
    this.attempt.holds("custom-resources.versions", undefined);
    this.attempt.holds("custom-resources.lists", undefined);
  }

  /** A default that the definition gets once there are objects. */
  private async defaultLater(version: string): Promise<void> {
    const { attempt, node, definition } = this;
    const { widgets, widget, path } = definition;
    const next: RecordNode = {
      is: "record",
      fields: { ...node.fields, [late]: { is: "text", nullable: false, default: "later" } },
    };
    const schema = schemaOf(next, attempt.profile.dialect.extensionPrefix);
    const versions = [0, 1].map((at) => ({
      op: "replace",
      path: `/spec/versions/${at}/schema/openAPIV3Schema`,
      value: schema,
    }));
    const changed = await attempt.client.request("PATCH", path, {
      body: versions as Json,
      contentType: "application/json-patch+json",
    });
    objectOf(changed, "custom-resources.served");
    const query = { dryRun: "All" };
    const isInForce = await pollUntil(attempt, attempt.clock.nowMillis() + 60_000, async () => {
      const probe = await widgets.create(widget("probe", { spec: {} }), { query });
      return isJsonObject(probe.json) && isJsonObject(probe.json["spec"]) && late in probe.json["spec"]
        ? true
        : undefined;
    });
    attempt.expect("custom-resources.defaults", isInForce === true, "a default that the definition got", "none");
    const expected = shapedBy(next, this.states.get(version) ?? {});
    const shown = "its definition got a default";
    this.expectSpec("custom-resources.defaults", objectOf(await widgets.get("a")), expected, `${shown}, in a get`);
    const listed = (await widgets.readList()).items.find(({ metadata }) => metadata.name === "a");
    this.expectSpec("custom-resources.defaults", listed ?? {}, expected, `${shown}, in a list`);
  }
}

/** An apply of what the schema does not name is refused, and a null in one means what no other verb's does. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([field, inner]) => [field, withoutNulls(inner as Json)]));
}

function withoutDefaults(node: RecordNode): RecordNode {
  const bare = Object.entries(node.fields).map(([name, field]) => {
    const { default: _default, ...rest } = field as { readonly default?: Json };
    const inner = rest as RecordNode["fields"][string];
    if (inner.is === "record") return [name, withoutDefaults(inner)] as const;
    if (inner.is === "keyed") return [name, { ...inner, items: withoutDefaults(inner.items) }] as const;
    if (inner.is === "list" && inner.items.is === "record")
      return [name, { ...inner, items: withoutDefaults(inner.items) }] as const;
    if (inner.is === "map" && inner.values.is === "record")
      return [name, { ...inner, values: withoutDefaults(inner.values) }] as const;
    return [name, inner] as const;
  });
  return { is: "record", fields: Object.fromEntries(bare) };
}

const hasStray = (spec: Json | undefined): boolean => JSON.stringify(spec ?? {}).includes('"zz"');
