import fc from "fast-check";
import { podTemplate } from "../../arbitraries/pod-templates.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { isJsonObject } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

const counted = "count/podtemplates";
const quotaTimeoutMillis = 10_000;

/**
 * Property: what is only created dry takes nobody's room in a quota.
 * Method: a quota with room for some objects; more of them are created dry than there is room for, then as many as
 * there is room for are created. The quota is in force once its status shows the limit.
 */
export const dryRunsUseNoQuota = defineCheck({
  id: "dry-runs-use-no-quota",
  area: "dry-run",
  property: "A dry run counts against no quota.",
  requirements: ["dry-run.no-quota"],
  features: ["podtemplates", "resourcequotas"],
  input: fc.record({ room: fc.integer({ min: 1, max: 3 }), dryCount: fc.integer({ min: 1, max: 4 }) }),
  examples: [{ room: 1, dryCount: 2 }],
  cost: "slow",
  async run(attempt, { room, dryCount }) {
    const quotas = await attempt.target.collection("resourcequotas");
    const templates = await attempt.target.collection("podtemplates");
    const spec = { hard: { [counted]: String(room) } };
    objectOf(await quotas.create({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "room" }, spec }));
    const deadlineMillis = attempt.clock.nowMillis() + quotaTimeoutMillis;
    const before = await pollUntil(attempt, deadlineMillis, () => usedOf(quotas));
    if (before === undefined) throw new Inconclusive(`nobody put the quota in force within ${quotaTimeoutMillis} ms`);

    for (let index = 0; index < dryCount; index++) {
      const dry = await templates.create(podTemplate(`dry-${index}`), { query: { dryRun: "All" } });
      const actual = `${dry.status} ${dry.text.slice(0, 300)}`;
      attempt.expect("dry-run.no-quota", dry.status < 300, `201 for dry run ${index + 1}: there is room`, actual);
    }
    const used = await usedOf(quotas);
    attempt.expect("dry-run.no-quota", used === before, `used: ${before}, as before the dry runs`, `used: ${used}`);
    for (let index = 0; index < room; index++) {
      const real = await templates.create(podTemplate(`real-${index}`));
      const actual = `${real.status} ${real.text.slice(0, 300)}`;
      attempt.expect("dry-run.no-quota", real.status < 300, `201 for object ${index + 1} of ${room}`, actual);
    }
  },
});

/** What the quota says is used; undefined until it says what it limits. */
async function usedOf(quotas: Collection): Promise<string | undefined> {
  const status = objectOf(await quotas.get("room"))["status"];
  const [hard, used] = ["hard", "used"].map((field) => (isJsonObject(status) ? status[field] : undefined));
  if (!isJsonObject(hard) || hard[counted] === undefined || !isJsonObject(used)) return undefined;
  return String(used[counted]);
}
