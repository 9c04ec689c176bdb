import fc from "fast-check";
import { podTemplate } from "../../arbitraries/pod-templates.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import type { Answer } from "../../client/exchange.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

const counted = "count/podtemplates";
const steps = ["post", "apply", "generate", "taken", "invalid", "delete", "collection", "selected"] as const;
type Step = (typeof steps)[number];
type Making = Exclude<Step, "delete" | "collection" | "selected">;

/** The row's own bound. */
const countMillisMax = 120_000;

/**
 * Property: a quota counts what its namespace holds: it has room again for what was deleted, however that was done, and
 * none for what is beyond it, however that is made; what is refused takes no room.
 * Method: one writer makes and deletes objects in every way, and waits each time until the quota has counted.
 */
export const quotasCountWhatIsThere = defineCheck<{ readonly room: number; readonly plan: readonly Step[] }>({
  id: "quotas-count-what-is-there",
  area: "writes",
  property: "A quota counts what there is, however it was made and deleted, and lets no more be made.",
  requirements: ["writes.quota"],
  features: ["podtemplates", "resourcequotas"],
  input: fc.record({
    room: fc.integer({ min: 1, max: 3 }),
    plan: fc.array(fc.constantFrom(...steps), { minLength: 2, maxLength: 8 }),
  }),
  examples: [
    { room: 2, plan: ["post", "taken", "invalid", "apply", "generate", "collection", "generate", "post", "delete"] },
    { room: 1, plan: ["apply", "post", "selected", "post", "collection", "apply"] },
  ],
  cost: "slow",
  async run(attempt, { room, plan }) {
    const quotas = await attempt.target.collection("resourcequotas");
    const templates = await attempt.target.collection("podtemplates");
    const spec = { hard: { [counted]: String(room) } };
    objectOf(await quotas.create({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "room" }, spec }));
    const within = (millis: number, ask: () => Promise<true | undefined>): Promise<true | undefined> =>
      pollUntil(attempt, attempt.clock.nowMillis() + millis, ask);
    const isCounted = (count: number) => async (): Promise<true | undefined> =>
      (await usedOf(quotas)) === String(count) ? true : undefined;
    if ((await within(10_000, isCounted(0))) === undefined) throw new Inconclusive("nobody put the quota in force");

    const there: string[] = [];
    for (const [index, step] of plan.entries()) {
      const name = `t-${index}`;
      const shown = `${step} after ${plan.slice(0, index).join(", ") || "nothing"}, with room for ${room}`;
      if (step === "delete") {
        const first = there.shift();
        if (first !== undefined) succeeded(await templates.delete(first));
      } else if (step === "collection" || step === "selected") {
        const query = step === "selected" ? { labelSelector: "app=x" } : {};
        succeeded(await templates.deleteCollection({ query }), "writes.quota", [200]);
        there.length = 0;
      } else {
        const answer = await make(templates, step, name, there[0]);
        const isLawful = step === "post" || step === "apply" || step === "generate";
        const hasRoom = there.length < room;
        const isMade = answer.status < 300;
        const expected = isLawful && hasRoom ? `room for ${shown}` : `a refusal of ${shown}`;
        attempt.expect("writes.quota", isMade === (isLawful && hasRoom), expected, shownAnswer(answer));
        if (isMade) there.push(objectOf(answer).metadata.name);
      }
      const count = there.length;
      const isRight = await within(countMillisMax, isCounted(count));
      const actual = `used: ${await usedOf(quotas)}`;
      attempt.expect("writes.quota", isRight === true, `used: ${count} after ${shown}`, actual);
    }
  },
});

function make(templates: Collection, step: Making, name: string, taken: string | undefined): Promise<Answer> {
  const template = podTemplate(name);
  const metadata = { ...(template["metadata"] as JsonObject), labels: { app: "x" } };
  switch (step) {
    case "apply":
      return templates.patch(name, "apply", { ...template, metadata }, { query: { fieldManager: "alpha" } });
    case "generate":
      return templates.create({ ...template, metadata: { generateName: "made-", labels: { app: "x" } } });
    case "taken":
      return templates.create({ ...template, metadata: { ...metadata, name: taken ?? "-" } });
    case "invalid":
      return templates.create({ ...template, metadata: { ...metadata, labels: { "-": "no key" } } });
    default:
      return templates.create({ ...template, metadata });
  }
}

/** What the quota says is used; undefined until it says what it limits. */
async function usedOf(quotas: Collection): Promise<string | undefined> {
  const status = objectOf(await quotas.get("room"))["status"];
  const [hard, used] = ["hard", "used"].map((field) => (isJsonObject(status) ? status[field] : undefined));
  if (!isJsonObject(hard) || hard[counted] === undefined || !isJsonObject(used)) return undefined;
  return String(used[counted]);
}
