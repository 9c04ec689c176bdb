import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import { Unsupported } from "../../client/findings.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, type JsonObject, objectsIn } from "../../client/types.ts";
import { type Given, givenTo, judgeGiven, type ServiceType, serviceTypes } from "../../model/service-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const ways = ["put", "merge", "json", "strategic"] as const;
const changes = ["labels", "ClusterIP", "NodePort", "address"] as const;

type Step =
  | {
      readonly do: "make";
      readonly type: ServiceType;
      /** Whether it names what it is to have: nothing, what another has, or what one had that is gone. */
      readonly asks: "nothing" | "taken" | "freed";
      readonly verb: "post" | "apply";
      readonly dry: boolean;
    }
  | {
      readonly do: "change";
      readonly what: (typeof changes)[number];
      readonly way: (typeof ways)[number];
      readonly place: number;
      readonly dry: boolean;
    }
  | { readonly do: "delete"; readonly place: number; readonly dry: boolean };

const dryness = fc.nat(3).map((draw) => draw === 3);
const anyStep: fc.Arbitrary<Step> = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("make" as const),
      type: fc.constantFrom(...serviceTypes),
      asks: fc.constantFrom("nothing", "nothing", "taken", "freed"),
      verb: fc.constantFrom("post", "apply"),
      dry: dryness,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      what: fc.constantFrom(...changes),
      way: fc.constantFrom(...ways),
      place: fc.nat(3),
      dry: dryness,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), place: fc.nat(3), dry: dryness }) },
);

const make = (type: ServiceType, asks: "nothing" | "taken" | "freed" = "nothing", dry = false): Step => ({
  do: "make",
  type,
  asks,
  verb: "post",
  dry,
});

/**
 * Property: a service is given an address, and a node port where its type has one, that no other has; it keeps them whichever verb
 * writes it; what is taken is refused, what is free again is not, and dry runs take nothing.
 * Method: one writer makes, changes and deletes services in every way, and asks for what others have or had.
 */
export const servicesKeepWhatTheyWereGiven = defineCheck<readonly Step[]>({
  id: "services-keep-what-they-were-given",
  area: "services",
  property: "Services have addresses and node ports of their own, and keep them.",
  requirements: ["services.given", "services.kept", "services.taken", "services.freed", "services.dry-run"],
  features: ["namespaces"],
  input: fc.array(anyStep, { minLength: 3, maxLength: 9 }),
  examples: [
    [
      make("NodePort"),
      make("ClusterIP"),
      make("headless"),
      make("ClusterIP", "taken"),
      make("NodePort", "taken"),
      ...ways.map((way): Step => ({ do: "change", what: "labels", way, place: 0, dry: false })),
      { do: "change", what: "address", way: "merge", place: 0, dry: false },
      { do: "change", what: "NodePort", way: "merge", place: 1, dry: false },
      { do: "change", what: "ClusterIP", way: "put", place: 0, dry: false },
      { do: "delete", place: 0, dry: true },
      make("ClusterIP", "taken"),
      { do: "delete", place: 0, dry: false },
      make("ClusterIP", "freed", true),
      make("ClusterIP", "freed"),
      make("NodePort", "freed"),
    ],
  ],
  async run(attempt, steps) {
    const services = await attempt.target.collection("services");
    if ((await services.list()).status === 404) throw new Unsupported("services");
    const play = new ServicePlay(attempt, services);
    for (const [index, step] of steps.entries()) await play.step(step, index);
  },
});

interface Living {
  readonly type: ServiceType;
  readonly given: Given;
}

class ServicePlay {
  private readonly attempt: Attempt;
  private readonly services: Collection;
  private readonly living = new Map<string, Living>();
  private readonly freed: { addresses: string[]; ports: number[] } = { addresses: [], ports: [] };

  constructor(attempt: Attempt, services: Collection) {
    this.attempt = attempt;
    this.services = services;
  }

  async step(step: Step, index: number): Promise<void> {
    if (step.do === "make") await this.make(step, `s-${index}`);
    else {
      const name = [...this.living.keys()][step.place % Math.max(1, this.living.size)];
      if (name === undefined) return;
      if (step.do === "delete") await this.delete(name, step.dry);
      else await this.change(step, name);
    }
    await this.isAsBefore(`step ${index}: ${JSON.stringify(step)}`);
  }

  private async make(step: Extract<Step, { do: "make" }>, name: string): Promise<void> {
    const { attempt, services } = this;
    const { type, asks, verb, dry } = step;
    const asked = this.askedFor(type, asks);
    if (asks !== "nothing" && asked === undefined) return; // there is nothing of the kind yet
    const body = serviceOf(name, type, asked);
    const query = dry ? { dryRun: "All" } : {};
    const answer =
      verb === "post"
        ? await services.create(body, { query })
        : await services.patch(name, "apply", body, { query: { ...query, fieldManager: "applier" } });
    const shown = `${dry ? "a dry " : ""}${verb} of ${JSON.stringify(body["spec"])}`;
    // Whether an address is taken need not be looked at for a dry run.
    if (asks === "taken" && dry && type !== "NodePort") return;
    if (asks === "taken") {
      attempt.expect("services.taken", answer.status === 422, `422 for ${shown}`, shownAnswer(answer));
      return;
    }
    if (asks === "freed" && answer.status === 422 && (await this.isOthers(asked))) return;
    const requirement = asks === "freed" ? "services.freed" : "services.given";
    attempt.expect(requirement, answer.status < 300, `carried out: ${shown}`, shownAnswer(answer));
    const given = givenTo(objectOf(answer));
    // What a dry run is told need not be what the real one gets: another may have it, or be about to.
    const wished =
      type === "NodePort" ? { address: undefined, port: asked?.port } : { address: asked?.address, port: undefined };
    const others = dry ? [] : [...this.living.values()].map((each) => each.given);
    this.judge(requirement, shown, type, given, asks === "freed" ? wished : undefined, others);
    if (dry) return;
    this.living.set(name, { type, given });
    this.takeFromFreed(given);
  }

  private askedFor(type: ServiceType, asks: Extract<Step, { do: "make" }>["asks"]): Given | undefined {
    if (asks === "nothing" || type === "headless") return undefined;
    const others = [...this.living.values()].map(({ given }) => given);
    if (type === "NodePort") {
      const port = asks === "taken" ? others.find((given) => given.port !== undefined)?.port : this.freed.ports[0];
      return port === undefined ? undefined : { address: undefined, port };
    }
    const taken = others.find((given) => given.address !== undefined)?.address;
    const address = asks === "taken" ? taken : this.freed.addresses[0];
    return address === undefined ? undefined : { address, port: undefined };
  }

  private async change({ what, way, dry }: Extract<Step, { do: "change" }>, name: string): Promise<void> {
    const { attempt, services } = this;
    const { type, given } = this.living.get(name) as Living;
    const live = objectOf(await services.get(name));
    const isHeadless = type === "headless";
    const next: ServiceType = isHeadless || what === "labels" || what === "address" ? type : what;
    const answer = await this.send(name, live, what, way, dry, isHeadless);
    const shown = `${dry ? "a dry " : ""}${way} of ${what} on ${JSON.stringify(live["spec"])}`;
    if (what === "address" && !isHeadless) {
      attempt.expect("services.kept", answer.status === 422, `422 for ${shown}`, shownAnswer(answer));
      return;
    }
    attempt.expect("services.kept", answer.status === 200, `200 for ${shown}`, shownAnswer(answer));
    const others = dry ? [] : [...this.living].filter(([other]) => other !== name).map(([, each]) => each.given);
    const after = givenTo(objectOf(answer));
    this.judge("services.kept", shown, next, after, given, others);
    if (dry) return;
    this.living.set(name, { type: next, given: after });
    if (given.port !== undefined && after.port === undefined) this.freed.ports.push(given.port);
    this.takeFromFreed(after);
  }

  private send(
    name: string,
    live: ApiObject,
    what: (typeof changes)[number],
    way: (typeof ways)[number],
    dry: boolean,
    isHeadless: boolean,
  ): Promise<Answer> {
    const { services } = this;
    const query = dry ? { dryRun: "All" } : {};
    const labels = { turn: what };
    // Headless ones change their labels alone: what else becomes of them is the type's own affair.
    const spec: JsonObject =
      isHeadless || what === "labels"
        ? {}
        : what === "address"
          ? { clusterIP: "None", clusterIPs: ["None"] }
          : { type: what };
    if (way === "put") {
      const { clusterIP, clusterIPs: _all, ...rest } = live["spec"] as JsonObject;
      const ports = objectsIn(rest, "ports").map(({ nodePort: _port, ...port }) => port);
      const own = isHeadless ? { clusterIP: clusterIP as string } : {}; // who leaves the rest out keeps it
      const sent = { ...live, metadata: { ...live.metadata, labels }, spec: { ...rest, ports, ...own, ...spec } };
      return services.put(name, sent as JsonObject, { query });
    }
    if (way === "json") {
      const operations = [
        { op: "add", path: "/metadata/labels", value: labels },
        ...Object.entries(spec).map(([field, value]) => ({
          op: "replace",
          path: `/spec/${field}`,
          value: value as string,
        })),
      ];
      return services.patch(name, "json", operations, { query });
    }
    return services.patch(
      name,
      way,
      { metadata: { labels }, ...(Object.keys(spec).length === 0 ? {} : { spec }) },
      { query },
    );
  }

  private async delete(name: string, dry: boolean): Promise<void> {
    succeeded(await this.services.delete(name, undefined, { query: dry ? { dryRun: "All" } : {} }));
    if (dry) return;
    const { given } = this.living.get(name) as Living;
    this.living.delete(name);
    if (given.address !== undefined) this.freed.addresses.push(given.address);
    if (given.port !== undefined) this.freed.ports.push(given.port);
  }

  private takeFromFreed({ address, port }: Given): void {
    this.freed.addresses = this.freed.addresses.filter((each) => each !== address);
    this.freed.ports = this.freed.ports.filter((each) => each !== port);
  }

  private judge(
    requirement: string,
    shown: string,
    type: ServiceType,
    given: Given,
    had: Given | undefined,
    others: readonly Given[],
  ): void {
    const violation = judgeGiven(type, given, had, others);
    this.attempt.holds(requirement, violation && { ...violation, expected: `${violation.expected} after ${shown}` });
  }

  /** Each of them still has what it was given. */
  private async isAsBefore(shown: string): Promise<void> {
    const { items } = await this.services.readList();
    for (const [name, { given }] of this.living) {
      const item = items.find(({ metadata }) => metadata.name === name);
      const [is, was] = [JSON.stringify(item && givenTo(item)), JSON.stringify(given)];
      this.attempt.expect("services.kept", is === was, `${name} with ${was} after ${shown}`, is ?? "none");
    }
    const known = items.filter(({ metadata }) => /^s-\d+$/.test(metadata.name) && !this.living.has(metadata.name));
    const names = known.map(({ metadata }) => metadata.name).join();
    this.attempt.expect("services.dry-run", names === "", `no other service after ${shown}`, names);
  }

  /** In a cluster of others what is free again may be somebody's at once. */
  private async isOthers(asked: Given | undefined): Promise<boolean> {
    const { items } = await this.attempt.target.everywhere("services").readList();
    return items
      .map(givenTo)
      .some(({ address, port }) => (asked?.port === undefined ? address === asked?.address : port === asked.port));
  }
}

function serviceOf(name: string, type: ServiceType, asked: Given | undefined): JsonObject {
  const port = { port: 80, ...(asked?.port === undefined ? {} : { nodePort: asked.port }) };
  const address = type === "headless" ? "None" : asked?.address;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: {
      type: type === "NodePort" ? "NodePort" : "ClusterIP",
      ports: [port],
      ...(address === undefined ? {} : { clusterIP: address }),
    },
  };
}
