import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";
import type { WebhookAnswer, WebhookCall, WebhookCaller } from "./webhooks.ts";

const configurations = "/apis/admissionregistration.svc.io/v1";
const everything = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

const webhook = (name: string, more: JsonObject = {}): JsonObject => ({
  name: `${name}.example.org`,
  clientConfig: { url: `https://${name}.example.org/review` },
  rules: [everything],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...more,
});

interface Request {
  readonly uid: string;
  readonly object: JsonObject | null;
  readonly operation: string;
}

type Respond = (request: Request) => JsonObject;

const answer = (response: JsonObject): WebhookAnswer => ({
  status: 200,
  body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response },
});
const requestOf = (call: WebhookCall): Request => call.body["request"] as unknown as Request;
const hostOf = (call: WebhookCall): string => new URL(call.url).hostname.split(".")[0] as string;

const add = (path: string, value: Json): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: btoa(JSON.stringify([{ op: "add", path, value }])),
});

/** A caller that answers at once by the host's name. */
function bySite(sites: Readonly<Record<string, Respond>>, asked: string[] = []): WebhookCaller {
  return (call, done) => {
    const name = hostOf(call);
    asked.push(name);
    const request = requestOf(call);
    done(answer({ uid: request.uid, ...(sites[name] as Respond)(request) }));
    return () => {};
  };
}

function bed(
  webhooks: WebhookCaller,
  mutating: readonly JsonObject[],
  validating: readonly JsonObject[] = [],
): TestBed {
  const made = new TestBed({ webhooks });
  configure(made, "Mutating", mutating);
  configure(made, "Validating", validating);
  return made;
}

function configure(made: TestBed, kind: string, webhooks: readonly JsonObject[]): void {
  if (webhooks.length === 0) return;
  const path = `${configurations}/${kind.toLowerCase()}webhookconfigurations`;
  const stored = made.ask(`POST ${path}`, { body: { metadata: { name: "hooks" }, webhooks } });
  expect(stored.status, stored.text).toBe(201);
}

const post = (made: TestBed, query = "", metadata: JsonObject = {}): Answer =>
  made.ask(`POST ${configMaps}${query}`, { body: { metadata: { name: "a", ...metadata }, data: {} } });

describe("mutating webhooks", () => {
  it("change an object in turn, and what they add is stored", () => {
    const asked: string[] = [];
    const seen: unknown[] = [];
    const sites: Record<string, Respond> = {
      one: () => add("/data", { one: "1" }),
      two: ({ object }) => {
        seen.push(object?.["data"]);
        return add("/data/two", "2");
      },
    };
    const made = bed(bySite(sites, asked), [webhook("one"), webhook("two")]);
    expect(post(made).at("data")).toEqual({ one: "1", two: "2" });
    expect(made.ask(`GET ${configMaps}/a`).at("data")).toEqual({ one: "1", two: "2" });
    expect(asked).toEqual(["one", "two"]);
    expect(seen).toEqual([{ one: "1" }]);
  });

  it("are asked once more when a later one changed something and they want to know", () => {
    const asked: string[] = [];
    const made = bed(
      bySite(
        { one: () => ({ allowed: true }), two: () => add("/data", { x: "y" }), three: () => ({ allowed: true }) },
        asked,
      ),
      [
        webhook("one", { reinvocationPolicy: "IfNeeded" }),
        webhook("two"),
        webhook("three", { reinvocationPolicy: "IfNeeded" }),
      ],
    );
    expect(post(made).status).toBe(201);
    expect(asked).toEqual(["one", "two", "three", "one"]);
  });

  it("keep every digit of the numbers in their patches", () => {
    const patch = btoa('[{"op":"add","path":"/revision","value":9007199254740993}]');
    const rules = [{ operations: ["*"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["controllerrevisions"] }];
    const made = bed(bySite({ one: () => ({ allowed: true, patchType: "JSONPatch", patch }) }), [
      webhook("one", { rules }),
    ]);
    const path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    const stored = made.ask(`POST ${path}`, { body: { metadata: { name: "r" }, revision: 1, data: {} } });
    expect(stored.text).toContain('"revision":9007199254740993');
  });

  it.each([
    ["cannot be read", btoa("[{")],
    ["cannot be read", "%"],
    ["is not a list", btoa("{}")],
  ])("whose patch %s fail the request", (why, patch) => {
    const made = bed(bySite({ one: () => ({ allowed: true, patchType: "JSONPatch", patch }) }), [webhook("one")]);
    const refused = post(made);
    expect([refused.status, refused.at("message")]).toEqual([500, expect.stringContaining(`response.patch ${why}`)]);
  });

  it("whose patch nests by copies fail the request", () => {
    const operations: object[] = [{ op: "add", path: "/data", value: { z: { a: {} } } }];
    for (let depth = 1; depth < 20_000; depth = 2 * depth + 1) {
      operations.push({ op: "copy", from: "/data/z", path: `/data/z${"/a".repeat(depth)}/a` });
    }
    const patch = btoa(JSON.stringify(operations));
    const made = bed(bySite({ one: () => ({ allowed: true, patchType: "JSONPatch", patch }) }), [webhook("one")]);
    expect(post(made).status).toBe(500);
    expect(made.ask(`GET ${configMaps}/a`).status).toBe(404);
  });

  it("whose patch does not fit fail the request", () => {
    const made = bed(bySite({ one: () => add("/absent/x", "y") }), [webhook("one")]);
    const refused = post(made);
    expect([refused.status, refused.reason]).toEqual([500, "InternalError"]);
    expect(made.ask(`GET ${configMaps}/a`).status).toBe(404);
  });
});

describe("validating webhooks", () => {
  it.each([
    [{ message: "no", code: 403, reason: "Forbidden" }, 403, ": no"],
    [{ reason: "Teapot", code: 200 }, 400, ": Teapot"],
    [undefined, 400, " without explanation"],
  ])("refuse in their own words: %j", (status, code, ending) => {
    const deny = (): JsonObject => ({ allowed: false, ...(status === undefined ? {} : { status }) });
    const refused = post(bed(bySite({ one: deny }), [], [webhook("one")]));
    expect(refused.status).toBe(code);
    expect(refused.at("message")).toBe(`admission webhook "one.example.org" denied the request${ending}`);
  });

  it.each([
    [{ allowed: false, status: { message: { a: 1 } } }, '{"a":1}'],
    [{ allowed: false, status: { reason: ["b"] } }, '["b"]'],
    [{ allowed: true, uid: { c: 1 } }, '{\\"c\\":1}'],
    [{ allowed: true, patch: btoa("[]"), patchType: { d: 1 } }, "response.patch is not allowed"],
  ])("which answer with an object for a text are quoted as they answered: %j", (reply, quoted) => {
    const refused = post(bed(bySite({ one: () => reply as JsonObject }), [], [webhook("one")]));
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.at("message")).toContain(quoted);
    expect(refused.text).not.toContain("[object");
  });

  it("warn through the response, and cannot change anything", () => {
    const warned = post(bed(bySite({ one: () => ({ allowed: true, warnings: ["careful"] }) }), [], [webhook("one")]));
    expect(warned.headers["warning"]).toEqual(['299 - "careful"']);
    const changed = post(bed(bySite({ one: () => add("/data/x", "y") }), [], [webhook("one")]));
    expect(changed.status).toBe(500);
  });

  it("see deletions, with the old object", () => {
    const seen: Request[] = [];
    const made = bed(
      bySite({
        one: (request) => {
          seen.push(request);
          return { allowed: request.operation !== "DELETE" };
        },
      }),
      [],
      [webhook("one")],
    );
    post(made);
    expect(made.ask(`DELETE ${configMaps}/a`).status).toBe(400);
    expect(made.ask(`GET ${configMaps}/a`).status).toBe(200);
    expect(seen.map(({ operation, object }) => [operation, object === null])).toEqual([
      ["CREATE", false],
      ["DELETE", true],
    ]);
  });
});

describe("a webhook is asked only about what it matches", () => {
  const matching: readonly (readonly [string, JsonObject, boolean])[] = [
    ["everything", {}, true],
    ["another operation", { rules: [{ ...everything, operations: ["DELETE"] }] }, false],
    ["another group", { rules: [{ ...everything, apiGroups: ["apps"] }] }, false],
    ["another version", { rules: [{ ...everything, apiVersions: ["v2"] }] }, false],
    ["any resource", { rules: [{ ...everything, resources: ["*"] }] }, true],
    ["only subresources", { rules: [{ ...everything, resources: ["configmaps/status"] }] }, false],
    ["all subresources too", { rules: [{ ...everything, resources: ["*/*"] }] }, true],
    ["cluster scope", { rules: [{ ...everything, scope: "Cluster" }] }, false],
    ["namespaces", { rules: [{ ...everything, scope: "Namespaced" }] }, true],
    ["the object's label", { objectSelector: { matchLabels: { a: "b" } } }, true],
    ["another label", { objectSelector: { matchLabels: { a: "c" } } }, false],
    ["the namespace's label", { namespaceSelector: { matchLabels: { "svc.io/metadata.name": "default" } } }, true],
    ["another namespace", { namespaceSelector: { matchLabels: { "svc.io/metadata.name": "other" } } }, false],
  ];
  it.each(matching)("%s", (_what, more, expected) => {
    const asked: string[] = [];
    const made = bed(bySite({ one: () => ({ allowed: true }) }, asked), [], [webhook("one", more)]);
    expect(post(made, "", { labels: { a: "b" } }).status).toBe(201);
    expect(asked.length === 1).toBe(expected);
  });
});

describe("a webhook that cannot be asked", () => {
  const silent: WebhookCaller = () => () => {};

  it("lets its failure policy decide, after its timeout on the clock", () => {
    const made = bed(silent, [], [webhook("one", { timeoutSeconds: 3 })]);
    const waiting = post(made);
    expect(waiting.over).toBe(false);
    made.advance(2);
    expect(waiting.over).toBe(false);
    made.advance(2);
    expect([waiting.status, waiting.reason]).toEqual([500, "InternalError"]);
    expect(waiting.at("message")).toBe(
      'Internal error occurred: failed calling webhook "one.example.org": failed to call webhook: ' +
        'Post "https://one.example.org/review?timeout=3s": context deadline exceeded',
    );
    const open = bed(silent, [], [webhook("one", { timeoutSeconds: 3, failurePolicy: "Ignore" })]);
    const passed = post(open);
    open.advance(4);
    expect(passed.status).toBe(201);
  });

  it("can be cancelled behind one that answered at once", () => {
    let cancelled = 0;
    const caller: WebhookCaller = (call, done) => {
      if (hostOf(call) === "two") return () => cancelled++;
      done(answer({ uid: requestOf(call).uid, allowed: true }));
      return () => {};
    };
    post(bed(caller, [webhook("one"), webhook("two")])).cancel();
    expect(cancelled).toBe(1);
  });

  it("is no longer waited for when the client goes, or its own deadline comes first", () => {
    let cancelled = 0;
    const made = bed(() => () => cancelled++, [], [webhook("one", { timeoutSeconds: 30 })]);
    post(made).cancel();
    expect(cancelled).toBe(1);
    const late = post(made, "?timeout=1s");
    made.advance(2);
    expect(late.status).toBe(504);
    expect(cancelled).toBe(2);
    made.advance(60);
    expect(made.ask(`GET ${configMaps}/a`).status).toBe(404);
  });

  it.each([
    [{ status: 404, body: "" }, "could not find the requested resource"],
    [{ status: 500, body: "oops" }, 'an error on the server ("oops")'],
    [{ status: 200, body: "text" }, "received invalid webhook response"],
    [{ status: 200, body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1" } }, "response was absent"],
    [
      { status: 200, body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response: { uid: "x" } } },
      'got "x"',
    ],
    [{ error: "connection refused" }, "failed to call webhook: connection refused"],
  ] as readonly (readonly [WebhookAnswer, string])[])("says why: %j", (given, text) => {
    const refused = post(bed((_call, done) => (done(given), () => {}), [webhook("one")]));
    expect(refused.status).toBe(500);
    expect(refused.at("message")).toContain(text);
  });
});

it("a dry run reaches only webhooks without side effects", () => {
  const asked: string[] = [];
  const caller = bySite({ one: () => ({ allowed: true }) }, asked);
  const dry = post(bed(caller, [webhook("one", { sideEffects: "NoneOnDryRun" })]), "?dryRun=All");
  expect(dry.status).toBe(201);
  expect(asked).toEqual(["one"]);
  // Stored by an older server that still knew other classes.
  const made = new TestBed({ webhooks: caller });
  const old = {
    metadata: { name: "old" },
    webhooks: [webhook("one", { sideEffects: "Some", namespaceSelector: {}, objectSelector: {} })],
  };
  made.kernel.enter(made.process, () =>
    made.store.put("/registry/mutatingwebhookconfigurations.admissionregistration.svc.io/old", 0, () => old),
  );
  const refused = post(made, "?dryRun=All");
  expect([refused.status, refused.at("message")]).toEqual([
    400,
    'admission webhook "one.example.org" does not support dry run',
  ]);
  expect(post(made).status).toBe(201);
});

it("a write is admitted again when the object changed while a webhook thought", () => {
  const seen: unknown[] = [];
  const slow: WebhookCaller = (call, done) => {
    const request = requestOf(call);
    if (request.operation !== "UPDATE") {
      done(answer({ uid: request.uid, allowed: true }));
      return () => {};
    }
    seen.push(request.object?.["data"]);
    return made.process.clock.after(
      request.object !== null && "slow" in (request.object["data"] as object) ? 2_000_000 : 0,
      () => done(answer({ uid: request.uid, allowed: true })),
    );
  };
  const made: TestBed = new TestBed({ webhooks: slow });
  configure(made, "Validating", [webhook("one")]);
  post(made);
  const late = made.merge(`${configMaps}/a`, { data: { slow: "1" } });
  const quick = made.merge(`${configMaps}/a`, { data: { quick: "1" } });
  made.advance(1);
  expect(quick.status).toBe(200);
  made.advance(6);
  expect(late.at("data")).toEqual({ quick: "1", slow: "1" });
  expect(seen).toEqual([{ slow: "1" }, { quick: "1" }, { quick: "1", slow: "1" }]);
});

describe("configurations", () => {
  const causes = (...webhooks: JsonObject[]): readonly string[] => {
    const path = `${configurations}/validatingwebhookconfigurations`;
    const made = new TestBed().ask(`POST ${path}`, { body: { metadata: { name: "hooks" }, webhooks } });
    return ((made.at("details.causes") ?? []) as { field: string }[]).map(({ field }) => field);
  };

  it("get defaults", () => {
    const made = bed(() => () => {}, [webhook("one", { clientConfig: { service: { name: "s", namespace: "n" } } })]);
    expect(made.ask(`GET ${configurations}/mutatingwebhookconfigurations/hooks`).at("webhooks.0")).toMatchObject({
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      reinvocationPolicy: "Never",
      timeoutSeconds: 10,
      clientConfig: { service: { port: 443 } },
      rules: [{ scope: "*" }],
    });
  });

  it("are refused for what nobody could carry out", () => {
    expect(causes(webhook("one"))).toEqual([]);
    expect(causes(webhook("one"), webhook("one"))).toEqual(["webhooks[1].name"]);
    expect(causes(webhook("one", { name: "short" }))).toEqual(["webhooks[0].name"]);
    expect(causes(webhook("one", { timeoutSeconds: 31 }))).toEqual(["webhooks[0].timeoutSeconds"]);
    expect(causes(webhook("one", { sideEffects: "Some" }))).toEqual(["webhooks[0].sideEffects"]);
    expect(causes(webhook("one", { failurePolicy: "Maybe" }))).toEqual(["webhooks[0].failurePolicy"]);
    expect(causes(webhook("one", { rules: [{ ...everything, operations: ["*", "CREATE"] }] }))).toEqual([
      "webhooks[0].rules[0].operations",
    ]);
    expect(causes(webhook("one", { clientConfig: { url: "http://u@h/?q#f" } }))).toEqual(
      Array(4).fill("webhooks[0].clientConfig.url"),
    );
    expect(causes(webhook("one", { clientConfig: {} }))).toEqual(["webhooks[0].clientConfig"]);
  });

  it("can be mended whatever the webhooks say", () => {
    const all = { ...everything, apiGroups: ["*"], resources: ["*/*"] };
    const made = bed(bySite({ one: () => ({ allowed: false }) }), [], [webhook("one", { rules: [all] })]);
    expect(made.ask(`DELETE ${configurations}/validatingwebhookconfigurations/hooks`).status).toBe(200);
    expect(post(made).status).toBe(201);
  });
});
