import fc from "fast-check";
import { expect, it } from "vitest";
import { TestBed } from "../test-bed.fixture.ts";
import { readServiceNetwork, type ServiceNetwork } from "./service-network.ts";

const services = "/api/v1/namespaces/default/services";

interface Held {
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly { readonly nodePort?: number }[];
  readonly healthCheckNodePort?: number;
}

const heldBy = ({ clusterIPs = [], ports, healthCheckNodePort }: Held): readonly (string | number)[] => [
  ...clusterIPs,
  ...ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [nodePort])),
  ...(healthCheckNodePort === undefined ? [] : [healthCheckNodePort]),
];

const mergePatch = { "content-type": "application/merge-patch+json" };
const types = ["ClusterIP", "NodePort", "LoadBalancer", "Local"] as const;

const step = fc.record({
  does: fc.constantFrom("create", "create", "change", "delete"),
  name: fc.integer({ min: 0, max: 5 }),
  type: fc.constantFrom(...types),
  /** Address and node port that are asked for: few, so that others have them. */
  address: fc.option(fc.integer({ min: 30, max: 36 })),
  nodePort: fc.option(fc.integer({ min: 31_000, max: 31_006 })),
  count: fc.integer({ min: 1, max: 3 }),
});

it("what a service has nobody else is given, and what none has can be had", () => {
  const outcomes = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) => {
      const bed = new TestBed();
      const held = new Map<string, readonly (string | number)[]>();
      const others = (name: string) => new Set([...held].flatMap(([each, all]) => (each === name ? [] : all)));
      for (const { does, name: at, type, address, nodePort, count } of steps) {
        const name = `s${at}`;
        if (does === "delete") {
          bed.ask(`DELETE ${services}/${name}`);
          held.delete(name);
          continue;
        }
        const isNew = does === "create";
        const asksForPort = nodePort !== null && type !== "ClusterIP";
        const asksForAddress = address !== null && isNew; // a change keeps the address
        const ports = Array.from({ length: count }, (_, port) => ({
          name: `p${port}`,
          port: 80 + port,
          ...(asksForPort && port === 0 ? { nodePort } : {}),
        }));
        const spec = {
          type: type === "Local" ? "LoadBalancer" : type,
          ...(type === "Local" ? { externalTrafficPolicy: "Local" } : {}),
          ...(asksForAddress ? { clusterIP: `10.0.0.${address}` } : {}),
          ports,
        };
        const answer = isNew
          ? bed.ask(`POST ${services}`, { body: { metadata: { name }, spec } })
          : bed.ask(`PATCH ${services}/${name}`, { body: { spec }, headers: mergePatch });
        outcomes.set(`${does} ${answer.status}`, (outcomes.get(`${does} ${answer.status}`) ?? 0) + 1);
        const taken = others(name);
        const collides =
          (asksForAddress && taken.has(`10.0.0.${address}`)) || (asksForPort && taken.has(nodePort as number));
        const isThere = held.has(name);
        if (isNew === isThere) {
          expect([404, 409, 422]).toContain(answer.status); // it is there already, or is not
          continue;
        }
        if (collides) {
          expect(answer.status).toBe(422);
          continue;
        }
        if (answer.status === 422) {
          expect(isNew).toBe(false); // of a change, what else is not allowed
          continue;
        }
        expect(answer.status).toBe(isNew ? 201 : 200);
        const has = heldBy(answer.at("spec") as unknown as Held);
        expect(has.filter((each) => taken.has(each))).toEqual([]);
        held.set(name, has);
      }
    }),
    { seed: 1, numRuns: 150 },
  );
  for (const outcome of ["create 201", "create 422", "change 200", "change 422"]) {
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(10);
  }
});

it("every node port is given once, until there is none left, and again after a deletion", () => {
  const bed = new TestBed();
  const post = (name: string, count: number) => {
    const ports = Array.from({ length: count }, (_, at) => ({ name: `p${at}`, port: 80 + at }));
    return bed.ask(`POST ${services}`, { body: { metadata: { name }, spec: { type: "NodePort", ports } } });
  };
  const given = new Set<number>();
  for (let at = 0; at < 16; at++) {
    const { ports } = post(`s${at}`, 173).at("spec") as unknown as Held;
    for (const { nodePort = 0 } of ports) given.add(nodePort);
  }
  expect(given.size).toBe(32_767 - 30_000 + 1); // 16 × 173
  expect(post("more", 1).at("message")).toContain("failed to allocate a nodePort: range is full");
  bed.ask(`DELETE ${services}/s3`);
  expect(post("again", 173).status).toBe(201);
  expect(post("more", 1).status).toBe(500);
});

it("who makes a service as soon as it hears of another is not given the same address", () => {
  const network = readServiceNetwork("10.0.0.0/28") as ServiceNetwork;
  const bed = new TestBed({ serviceNetwork: network });
  const bodyOf = (name: string) => ({ body: { metadata: { name }, spec: { ports: [{ port: 80 }] } } });
  const given: string[] = [];
  const { kernel, process, server } = bed;
  const watch = { method: "GET", path: services, query: "watch=1", headers: { authorization: "Bearer alice" } };
  const make = (): void => {
    given.push(String(bed.ask(`POST ${services}`, bodyOf(`s${heard}`)).at("spec.clusterIP")));
  };
  let heard = 0;
  kernel.enter(process, () =>
    server.start(watch, {
      respond() {},
      open() {},
      frame: () => {
        heard++;
        if (heard < 12) make();
        return 0;
      },
      close() {},
    }),
  );
  make();
  bed.advance(1);
  expect(heard).toBeGreaterThanOrEqual(12);
  expect(new Set(given).size).toBe(12);
});
