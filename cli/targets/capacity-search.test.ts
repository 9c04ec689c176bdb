/** Eight clusters, each with one limit that is too narrow: the search finds where, and names it. */
import { describe, expect, it } from "vitest";
import { ExperimentFile } from "../../scenarios/capacity/load.ts";
import playPart from "./capacity-part.ts";
import { type ConstraintName, search } from "./capacity-search.ts";

const head = "apiVersion: capacity/v1\nname: x\nquestion: How much?\n";

/** `runsMax`: it is interrupted in the run after so many. */
async function found(text: string, parameter: string, from: number, to: number, runsMax = Infinity) {
  const file = new ExperimentFile(head + text, "x");
  let runs = 0;
  return search({
    parameter,
    from,
    to,
    experiment: (changes) => file.with(changes, "find"),
    play: async (changes) => {
      if (++runs > runsMax) return undefined;
      const { run } = playPart({
        text: head + text,
        fileName: "x",
        arm: "find",
        changes,
        repetition: 1,
        logs: [],
        wantsMetrics: false,
      });
      if (run === undefined) throw new Error("it cannot be played");
      return run;
    },
  });
}

const lists = "workload: [{ do: list, path: /api/v1/configmaps, clients: 1 }]\n";
const clients = "workload.0.clients";
const quick = "settle: 3s\nuntil: 5s\n";

const planted: readonly (readonly [name: ConstraintName, text: string, parameter: string, from: number, to: number])[] =
  [
    [
      "reads in flight",
      `${quick}cluster: { nodes: 0, configMaps: { count: 20 }, server: { reads: 5 } }\n${lists}objectives: [{ figure: refused, max: 0 }]\n`,
      clients,
      1,
      30,
    ],
    [
      "writes in flight",
      `${quick}cluster: { nodes: 0, server: { writes: 2 } }\nworkload: [{ do: churn, what: configmaps, perSecond: 10, keep: 1000, for: 300ms }]\nobjectives: [{ figure: refused, max: 0 }]\n`,
      "workload.0.perSecond",
      100,
      1200,
    ],
    [
      "watch cache",
      `profile: svc\nsettle: 3s\nuntil: 20s\ncluster: { nodes: 0, configMaps: { count: 5 }, server: { historyWindow: 2s } }\n` +
        "workload:\n  - { do: watch, path: /api/v1/configmaps, clients: 1, breakEvery: 5s, away: 3s }\n  - { do: change, path: /api/v1/configmaps, perSecond: 10 }\n" +
        "objectives: [{ figure: relists, max: 8 }]\n",
      clients,
      1,
      20,
    ],
    [
      "store size",
      `${quick}cluster: { nodes: 0, server: { storeQuota: 300k } }\nworkload: [{ do: churn, what: configmaps, perSecond: 20, keep: 1000 }]\nobjectives: [{ requests: { code: 5xx }, max: 0 }]\n`,
      "workload.0.bytes",
      100,
      50_000,
    ],
    [
      "agent rate limit",
      `settle: 10s\nuntil: 40s\ncluster: { nodes: 1, agents: { flags: { svc-api-qps: 1, svc-api-burst: 1 } } }\nworkload: [{ do: burst, name: shop, replicas: 1 }]\nobjectives: [{ sli: podStartup, max: 8s }]\n`,
      "workload.0.replicas",
      1,
      12,
    ],
    [
      "scheduler",
      `settle: 10s\nuntil: 40s\ncluster: { nodes: 2, scheduler: { perSecond: 2, burst: 2 } }\nworkload: [{ do: burst, name: shop, replicas: 1 }]\nobjectives: [{ sli: podStartup, max: 6s }]\n`,
      "workload.0.replicas",
      1,
      20,
    ],
    [
      "link",
      `${quick}cluster: { nodes: 0, configMaps: { count: 20, bytes: 5000 }, server: { bytesPerSecond: 200000 } }\n${lists}objectives: [{ sli: list, max: 3s }]\n`,
      clients,
      1,
      30,
    ],
    [
      "processors",
      `settle: 20s\nuntil: 5s\ncluster: { nodes: 0, configMaps: { count: 20 }, server: { cores: 1 } }\ncosts: { listBaseMicros: 100000 }\n${lists}objectives: [{ sli: list, max: 1s }]\n`,
      clients,
      1,
      30,
    ],
  ];

describe("the search for what binds", () => {
  it.each(planted)("names %s", async (name, text, parameter, from, to) => {
    const { binding, holdsAt, breaksAt, relieved } = await found(text, parameter, from, to);
    expect(holdsAt).toBeLessThan(breaksAt as number);
    expect(binding).toBe(name);
    expect(relieved.find(({ constraint }) => constraint === name)?.met).toBe(true);
  });

  it("finds the very number where one is exact", async () => {
    const [, text, parameter] = planted[0] as (typeof planted)[number];
    // Five seats: the sixth list at the same moment is turned away.
    expect(await found(text, parameter, 1, 30)).toMatchObject({ holdsAt: 5, breaksAt: 6 });
  });

  it("tells what it knows when it is interrupted, and names no limit then", async () => {
    const [, text, parameter] = planted[0] as (typeof planted)[number];
    const at = (runsMax: number) => found(text, parameter, 1, 30, runsMax);
    const none = { binding: undefined, interrupted: true };
    expect(await at(0)).toMatchObject({ ...none, holdsAt: undefined, breaksAt: undefined, tried: [] });
    expect(await at(1)).toMatchObject({ ...none, holdsAt: 1, breaksAt: undefined, tried: [{ value: 1, met: true }] });
    const [few, some] = [await at(3), await at(8)];
    expect(few).toMatchObject({ ...none, holdsAt: 1, breaksAt: 15, broken: { met: false }, relieved: [] });
    // All values are tried; of the limits one is relieved, and it is the one that binds.
    expect(some).toMatchObject({ ...none, holdsAt: 5, breaksAt: 6, relieved: [{ met: true }] });
    expect(await found(text, parameter, 1, 30)).not.toHaveProperty("interrupted");
  });

  it("says so when nothing breaks, when everything does, and when no limit binds", async () => {
    const text = `${quick}cluster: { nodes: 0, configMaps: { count: 5 } }\n${lists}`;
    expect(await found(text, clients, 1, 3)).toMatchObject({ holdsAt: 3, breaksAt: undefined, binding: undefined });
    const broken = await found(`${text}objectives: [{ requests: { verb: list }, max: 0 }]\n`, clients, 1, 3);
    expect(broken).toMatchObject({ holdsAt: undefined, breaksAt: 1, binding: undefined });
  });
});
