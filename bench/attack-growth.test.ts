/**
 * An attack of twice the size costs about twice as much. What is quadratic costs four times as much, and ends in minutes
 * of silence at the size that a request may have. Counted in steps and bytes, never in time.
 */
import { type Work, workOf } from "./counted-work.fixture.ts"; // first: it counts what is imported after it
import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../sim/contract/profile.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { widgetDefinition } from "../sim/apiserver/attack-requests.fixture.ts";
import { type Answer, configMaps, TestBed } from "../sim/apiserver/test-bed.fixture.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const keyed = (count: number): Record<string, string> => Object.fromEntries(times(count, (at) => [`k${at}`, ""]));

/** What is sent: `POST /path`, its body and its type. */
type Request = readonly [request: string, body?: unknown, type?: string];

interface Growing {
  /** Of the smaller of two. */
  readonly size: number;
  readonly status: number;
  readonly prepare?: (size: number) => readonly Request[];
  readonly strike: (size: number) => Request;
  /** Seconds that pass while work is counted. Default 0. */
  readonly seconds?: number;
}

function send(bed: TestBed, [request, body, type = "application/json"]: Request): Answer {
  const answer = bed.ask(request, { as: "admin", headers: { "content-type": type }, body });
  const now = bed.kernel.nowMicros();
  while (answer.status === 0 && bed.kernel.nextEventMicros === now) bed.kernel.step();
  return answer;
}

function cost({ prepare, strike, status, seconds = 0 }: Growing, size: number): Work {
  const failures: unknown[] = [];
  const kernel = new Kernel({ seed: "grown", caught: ({ cause }) => failures.push(cause) });
  const bed = new TestBed({ profile: kubernetesProfile, authorizationModes: ["RBAC"] }, kernel);
  bed.advance(1);
  for (const request of prepare?.(size) ?? []) {
    send(bed, request);
    bed.advance(0.1);
  }
  bed.advance(2);
  const request = strike(size);
  let answer: Answer | undefined;
  const work = workOf(() => {
    answer = send(bed, request);
    if (seconds > 0) bed.advance(seconds);
  });
  expect([answer?.status, failures]).toEqual([status, []]);
  return work;
}

const review = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const yaml = (text: (size: number) => string, status: number, size: number, query = ""): Growing => ({
  size,
  status,
  strike: (grown) => [review + query, text(grown), "application/yaml"],
});

const patched = (size: number, document: (size: number) => object, operation: (at: number) => object): Growing => ({
  size,
  status: 422,
  prepare: () => [[`POST ${configMaps}`, { metadata: { name: "jp" } }]],
  // The last operation is none that can be carried out: what is counted is the patch, and not the object that it makes.
  strike: (grown) => [
    `PATCH ${configMaps}/jp`,
    [{ op: "add", path: "/x", value: document(grown) }, ...times(grown, operation), { op: "remove", path: "/none" }],
    "application/json-patch+json",
  ],
});

const widgets = "/apis/example.com/v1/namespaces/default/widgets";
const definition = (spec: object): Request => [
  "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  widgetDefinition(spec),
];
const widget = (spec: unknown): Request => [
  `POST ${widgets}`,
  { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec },
];

/** A rule over a list, for each of whose items a text is looked at that grows as the list does. */
const ruled = (rule: string, status: number): Growing => ({
  size: 25_000,
  status,
  prepare: () => [
    definition({
      type: "object",
      properties: {
        s: { type: "string" },
        n: { type: "array", maxItems: 1_000, items: { type: "integer" } },
      },
      "x-kubernetes-validations": [{ rule }],
    }),
  ],
  strike: (size) => widget({ s: `1${" ".repeat(size)}1`, n: times(size / 50, (at) => at) }),
});

const owners = (size: number, more: object, status: number, seconds: number): Growing => ({
  size,
  status,
  seconds,
  strike: (grown) => [
    `POST ${configMaps}`,
    {
      metadata: {
        name: "o",
        ownerReferences: times(grown, (at) => ({
          apiVersion: "v1",
          kind: "ConfigMap",
          name: `x${at}`,
          uid: `u${at}`,
          ...more,
        })),
      },
    },
  ],
});

const attacks: Readonly<Record<string, Growing>> = {
  "copies into a map": patched(
    500,
    (size) => keyed(10 * size),
    (at) => ({ op: "copy", from: "/metadata/name", path: `/x/c${at}` }),
  ),
  "inserts into a list": patched(
    500,
    (size) => times(20 * size, () => 1),
    () => ({ op: "add", path: "/x/0", value: 1 }),
  ),
  "removals from a list": patched(
    500,
    (size) => times(20 * size, () => 1),
    () => ({ op: "remove", path: "/x/0" }),
  ),
  "YAML of brackets": yaml((size) => "]".repeat(size), 400, 200_000),
  "YAML of nested flow maps": yaml((size) => `${"{a: ".repeat(size)}1${"}".repeat(size)}`, 422, 200),
  "YAML of flow maps that are nested too deep": yaml(
    (size) => `${"{a: ".repeat(size)}1${"}".repeat(size)}`,
    400,
    20_000,
  ),
  "YAML of a flow list": yaml((size) => `[${"1,".repeat(size)}1]`, 400, 5_000),
  "YAML of duplicates": yaml((size) => `{${"a,".repeat(size)}}`, 422, 2_000),
  "YAML of keys that are merged": yaml(
    (size) => `b: &a\n${times(20, (at) => `  ? k${at}\n  : 1\n`).join("")}c:\n${"  <<: *a\n".repeat(size)}`,
    400,
    200,
    "?fieldValidation=Strict",
  ),
  "an enumeration": {
    size: 500,
    status: 201,
    prepare: (size) => [definition({ type: "array", items: { type: "string", enum: times(size, (at) => `v${at}`) } })],
    strike: (size) => widget(times(size, () => `v${size - 1}`)),
  },
  "items that have defaults": {
    size: 500,
    status: 201,
    prepare: () => [
      definition({
        type: "array",
        items: {
          type: "object",
          properties: Object.fromEntries(times(5, (at) => [`d${at}`, { type: "string", default: "v".repeat(100) }])),
        },
      }),
    ],
    strike: (size) => widget(times(size, () => ({}))),
  },
  "a rule that trims": ruled("self.s.trim().size() > 0", 201),
  "a rule that measures": ruled("self.n.all(x, self.s.size() > 5)", 201),
  "a rule that looks at beginnings": ruled("self.n.all(x, self.s.startsWith('1'))", 201),
  "a rule that looks at one character": ruled("self.n.all(x, self.s.charAt(0) == '1')", 201),
  "a rule that reads a number": ruled("self.n.all(x, int(self.s) == 1)", 422),
  "owners that are absent": owners(150, {}, 201, 20),
  "owners that all control": owners(500, { controller: true }, 422, 0),
  "bindings of one role": {
    size: 20,
    status: 201,
    prepare: (size) => [
      [
        "POST /apis/rbac.authorization.k8s.io/v1/clusterroles",
        {
          metadata: { name: "many" },
          rules: times(10 * size, (at) => ({ apiGroups: [""], resources: [`r${at}`], verbs: ["get"] })),
        },
      ],
      ...times(
        size,
        (at): Request => [
          "POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
          {
            metadata: { name: `many-${at}` },
            roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "many" },
            subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "admin" }],
          },
        ],
      ),
    ],
    strike: () => ["POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "default" } }],
  },
  "terms of a watch's selector": {
    size: 100,
    status: 200,
    prepare: (size) =>
      times(size, (at): Request => [`POST ${configMaps}`, { metadata: { name: `m${at}`, labels: { a: "b" } } }]),
    strike: (size) => [
      `GET ${configMaps}?watch=1&resourceVersion=0&labelSelector=${times(20 * size, (at) => `!k${at}`).join(",")}`,
    ],
  },
};

/** Below it the engine's own work is a part of what is counted. */
const bytesMin = 10_000_000;

describe("an attack of twice the size costs no more than thrice as much", () => {
  it.each(Object.entries(attacks))("%s", (_, growing) => {
    const once = cost(growing, growing.size);
    const twice = cost(growing, 2 * growing.size);
    expect(twice.steps / once.steps).toBeLessThan(3);
    expect(twice.bytes / Math.max(once.bytes, bytesMin)).toBeLessThan(3);
  });
});

describe("what is counted", () => {
  const grown = (run: (size: number) => void, size: number): readonly [steps: number, bytes: number] => {
    const [once, twice] = [size, 2 * size].map((each) => workOf(() => run(each))) as [Work, Work];
    return [twice.steps / once.steps, twice.bytes / once.bytes];
  };

  it("tells what looks at everything for each", () => {
    const [steps] = grown((size) => {
      let sum = 0;
      for (let one = 0; one < size; one++) for (let other = 0; other < size; other++) sum += one ^ other;
      expect(sum).toBeGreaterThan(0);
    }, 200);
    expect(steps).toBeGreaterThan(3.5);
  });

  it("tells what copies everything for each", () => {
    const [, bytes] = grown((size) => {
      let list: readonly number[] = [];
      for (let at = 0; at < size; at++) list = [...list, at];
      expect(list.length).toBe(size);
    }, 2_000);
    expect(bytes).toBeGreaterThan(3.2);
  });
});
