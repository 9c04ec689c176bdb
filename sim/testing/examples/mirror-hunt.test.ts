/** A hunt of a user's own controller: the one that is as it should be, and the same with a mistake that is often made. */
import { describe, expect, it } from "vitest";
import { type Cluster, hunt, HuntFailure, type HuntOptions, type Machine } from "../testing.ts";
import { MirrorController } from "./mirror-controller.ts";

const namespace = "default";
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

const source = (name: string, colour: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { mirror: "true" } },
  data: { colour },
});

/** Somebody makes, changes and removes what is to be copied, a second apart. */
async function workload(cluster: Cluster): Promise<void> {
  await cluster.advance("1s");
  await cluster.create([source("one", "red"), source("two", "green")]);
  await cluster.advance("1s");
  await cluster.direct(`${cluster.url}${configMaps}/one`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ data: { colour: "blue" } }),
  });
  await cluster.advance("1s");
  await cluster.direct(`${cluster.url}${configMaps}/two`, { method: "DELETE" });
  await cluster.advance("1s");
}

const mirror = ({ fetch, url }: Machine): Promise<void> =>
  new MirrorController({ fetch, url, namespace, log: () => undefined }).run();

/** The same controller without its look at what should no longer be there: it trusts that it hears of each deletion. */
const trusting = ({ fetch, url }: Machine): Promise<void> => {
  const blind: typeof fetch = async (input, init) =>
    String(input).endsWith("mirrored%3Dtrue") ? Response.json({ items: [] }) : fetch(input, init);
  return new MirrorController({ fetch: blind, url, namespace, log: () => undefined }).run();
};

const failureOf = (options: HuntOptions): Promise<HuntFailure> =>
  hunt(options).then(
    () => expect.fail("nothing was found"),
    (error: unknown) => error as HuntFailure,
  );

describe("a hunt of the mirror controller", () => {
  it("finds nothing, whatever goes wrong", async () => {
    const report = await hunt({ program: mirror, workload, seeds: 60 });
    expect(report.played).toBe(60);
    expect(Object.keys(report.byPattern)).toEqual(
      expect.arrayContaining(["crash", "lost-answer", "stale", "unobserved", "late-events", "expired", "conflict"]),
    );
  });

  it("finds the controller that trusts in hearing of each deletion, and prints the seed", async () => {
    const failure = await failureOf({ program: trusting, workload });
    expect(failure).toBeInstanceOf(HuntFailure);
    expect(failure.finding.kind).toBe("end");
    expect(failure.message).toMatch(/^seed \d+: /);
    expect(failure.message).toContain("Secret default/two");
    const again = await failureOf({ program: trusting, workload, seeds: [failure.seed] });
    expect(again.message).toBe(failure.message);
  });
});
