import fc from "fast-check";
import { eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isApiObject, type JsonObject } from "../../client/types.ts";
import { isSameCode, withoutGenerated } from "../../model/dry-answers.ts";
import { sameJson } from "../../model/json-values.ts";
import { entriesOf } from "../../model/managed-fields.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const verbs = ["create", "put", "put-new", "merge", "json", "strategic", "apply", "apply-new"] as const;
const levels = ["", "Strict", "Warn", "Ignore"] as const;

interface Write {
  readonly verb: (typeof verbs)[number];
  readonly manager: "one" | "two";
  /** Empty: not sent. */
  readonly fieldValidation: (typeof levels)[number];
  /** A field that events do not have. Applies have none: whether they may is not a matter of the level. */
  readonly stray: boolean;
  /** Of an apply. */
  readonly force: boolean;
  readonly pretty: boolean;
}

const plain: Write = { verb: "create", manager: "one", fieldValidation: "", stray: false, force: false, pretty: false };
const applies = (verb: Write["verb"]): boolean => verb.startsWith("apply");

/**
 * Property: writes of events take dryRun, fieldManager, fieldValidation, pretty and force, and each does what it says.
 * Method: each write is sent dry and then for real, with the same parameters: the dry one leaves the event as it is, and
 * both answer the same. Who owns the one label that is written is known, and so which apply has to conflict.
 */
export const eventWritesTakeTheirParameters = defineCheck<readonly Write[]>({
  id: "event-writes-take-their-parameters",
  area: "events",
  property: "Every write of an event does what its parameters say, and a dry one answers as the real one would.",
  requirements: ["events.write-parameters"],
  features: ["events", "namespaces"],
  input: fc.array(
    fc.record({
      verb: fc.constantFrom(...verbs),
      manager: fc.constantFrom("one", "two"),
      fieldValidation: fc.constantFrom(...levels),
      stray: fc.nat(3).map((draw) => draw === 3),
      force: fc.boolean(),
      pretty: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  examples: [
    verbs.map((verb) => ({ ...plain, verb, fieldValidation: "Strict", pretty: true, force: true })),
    verbs.filter((verb) => !applies(verb)).map((verb) => ({ ...plain, verb, fieldValidation: "Strict", stray: true })),
    verbs.filter((verb) => !applies(verb)).map((verb) => ({ ...plain, verb, fieldValidation: "Ignore", stray: true })),
    [
      { ...plain, verb: "apply", force: true },
      { ...plain, verb: "apply", manager: "two" },
      { ...plain, verb: "apply", manager: "two", force: true },
      { ...plain, verb: "merge", manager: "one" },
      { ...plain, verb: "apply", manager: "two" },
    ],
  ],
  async run(attempt, writes) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const report = reportAbout(await attempt.target.namespace());
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const desk = new EventDesk(attempt, events, (name, step) => eventOf(groupVersion, name, report, { step }));
    await desk.begin();
    for (const write of writes) await desk.write(write);
  },
});

/** Who wrote the label last: by an apply, or otherwise. */
type Owner = `${Write["manager"] | "creator"} ${"Apply" | "Update"}`;

class EventDesk {
  private readonly attempt: Attempt;
  private readonly events: Collection;
  private readonly eventOf: (name: string, step: string) => JsonObject;
  private owner: Owner = "creator Update";
  private count = 0;

  constructor(attempt: Attempt, events: Collection, event: (name: string, step: string) => JsonObject) {
    this.attempt = attempt;
    this.events = events;
    this.eventOf = event;
  }

  async begin(): Promise<void> {
    objectOf(await this.events.create(this.eventOf("e", "s0"), { query: { fieldManager: "creator" } }));
  }

  async write(write: Write): Promise<void> {
    this.count += 1;
    const isNew = write.verb === "create" || write.verb.endsWith("-new");
    const name = isNew ? `e${this.count}` : "e";
    const before = await this.events.get(name);
    const dry = await this.send(write, name, true);
    const after = await this.events.get(name);
    this.expect(sameState(before, after), `${name} as it was before a dry ${write.verb}`, after);
    const real = await this.send(write, name, false);
    this.judgeAlike(write, dry, real);
    this.judge(write, isNew, real);
    if (real.status < 300 && !isNew) this.owner = `${write.manager} ${applies(write.verb) ? "Apply" : "Update"}`;
  }

  private send(
    { verb, manager, fieldValidation, stray, force, pretty }: Write,
    name: string,
    dry: boolean,
  ): Promise<Answer> {
    const { events } = this;
    const step = `s${this.count}`;
    const query = {
      fieldManager: manager,
      ...(dry ? { dryRun: "All" } : {}),
      ...(fieldValidation === "" ? {} : { fieldValidation }),
      ...(pretty ? { pretty: "true" } : {}),
      ...(applies(verb) ? { force } : {}),
    };
    const odd = stray && !applies(verb) ? { stray: 1 } : {};
    const whole = { ...this.eventOf(name, step), ...odd };
    const part = { metadata: { labels: { step } }, ...odd };
    switch (verb) {
      case "create":
        return events.create(whole, { query });
      case "put":
      case "put-new":
        return events.put(name, whole, { query });
      case "merge":
      case "strategic":
        return events.patch(name, verb, part, { query });
      case "json": {
        const added = Object.entries(odd).map(([field, value]) => ({ op: "add", path: `/${field}`, value }));
        return events.patch(name, "json", [{ op: "replace", path: "/metadata/labels/step", value: step }, ...added], {
          query,
        });
      }
      case "apply":
      case "apply-new":
        return events.patch(name, "apply", whole, { query });
    }
  }

  private judgeAlike({ verb }: Write, dry: Answer, real: Answer): void {
    this.expect(isSameCode(dry.status, real.status), `${real.status} for a dry ${verb}, as for the real one`, dry);
    if (real.status >= 300) return;
    const [said, wanted] = [withoutGenerated(dry.json), withoutGenerated(real.json)];
    this.expect(sameJson(said, wanted), `what the real ${verb} answers: ${JSON.stringify(wanted)}`, dry);
  }

  private judge({ verb, manager, fieldValidation, stray, force, pretty }: Write, isNew: boolean, real: Answer): void {
    if (stray && !applies(verb) && fieldValidation === "Strict") {
      // The code is judged where field validation is.
      this.expect(real.status >= 400 && real.status < 500, "an unknown field refused under Strict", real);
      return;
    }
    if (verb === "apply" && !force && this.owner !== `${manager} Apply`) {
      this.expect(real.status === 409, `409 for a label of ${this.owner}, without force`, real);
      return;
    }
    // Whether a PUT makes what is not there is not a matter of its parameters.
    if (verb === "put-new" && (real.status === 404 || real.status === 405)) return;
    this.expect(real.status < 300 && isApiObject(real.json), `a ${verb} that is taken`, real);
    if (!isApiObject(real.json)) return;
    this.expect(!("stray" in real.json), `no unknown field after ${fieldValidation || "no level"}`, real);
    if (pretty) this.expect(real.text.trimEnd().includes("\n"), "an answer of several lines, as pretty wants it", real);
    const entries = entriesOf(real.json);
    const isNoted = entries.length === 0 || entries.some((entry) => entry["manager"] === manager);
    this.expect(isNoted, `fields of the manager ${manager} after ${isNew ? "its creation" : "its change"}`, real);
  }

  private expect(holds: boolean, expected: string, answer: Answer): void {
    this.attempt.expect("events.write-parameters", holds, expected, shownAnswer(answer));
  }
}

function sameState(before: Answer, after: Answer): boolean {
  return before.status === after.status && (before.status >= 300 || sameJson(before.json, after.json));
}
