import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCalledFor } from "./called-for-failures.fixture.ts";
import { anyRequest, patchTypes } from "../http/any-request.fixture.ts";
import { kubernetesProfile, svcProfile } from "../contract/profile.ts";
import { MainStackBed } from "./main-stack.fixture.ts";
import { type Answer, configMaps, TestBed } from "./test-bed.fixture.ts";

const map = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data: { k: "v" } };

function bedWithMap(profile = kubernetesProfile, Bed = TestBed): TestBed {
  const bed = new Bed({ profile });
  bed.ask(`POST ${configMaps}`, { body: map });
  return bed;
}

/** The same body in every way that a body comes in. */
function send(bed: TestBed, body: unknown): readonly Answer[] {
  const a = `${configMaps}/a`;
  const as = (type: string) => ({ headers: { "content-type": `application/${type}` }, body });
  return [
    bed.ask(`POST ${configMaps}`, as("json")),
    bed.ask(`POST ${configMaps}`, as("yaml")),
    bed.ask(`PUT ${a}`, as("json")),
    ...patchTypes.map((type) => bed.ask(`PATCH ${a}?fieldManager=x`, as(type))),
    bed.ask(`DELETE ${configMaps}/none`, as("json")),
  ];
}

const isClear = ({ status, text }: Answer): boolean =>
  (status >= 200 && status < 500) || (status === 500 && isCalledFor("kubernetes", text));
const stillAnswers = (bed: TestBed): void => expect(bed.ask(`GET ${configMaps}/a`).status).toBe(200);

describe("hostile bodies", { timeout: 60_000 }, () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("may have %s for a key everywhere", (key) => {
    const bed = bedWithMap();
    const own = `"${key}":{"polluted":"yes"}`;
    const body = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",${own},"labels":{"${key}":"x"}},"data":{"${key}":"v"},${own}}`;
    for (const answer of send(bed, body)) expect(answer, answer.text).toSatisfy(isClear);
    const patch = `[{"op":"add","path":"/data/${key}","value":"w"},{"op":"add","path":"/${key}","value":{"polluted":"yes"}}]`;
    const type = "application/json-patch+json";
    const patched = bed.ask(`PATCH ${configMaps}/a`, { headers: { "content-type": type }, body: patch });
    expect(patched).toSatisfy(isClear);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const stored = bed.ask(`GET ${configMaps}/a`).body["data"] as Record<string, string>;
    expect(Object.hasOwn(stored, key)).toBe(true);
  });

  it.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("may nest %s without end", (_, open, close) => {
    for (const depth of [1_001, 10_000, 60_000]) {
      const bed = bedWithMap();
      const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
      const inField = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"x":${deep}}`;
      const inOwners = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"fieldsV1":${deep}}]}}`;
      for (const body of [deep, inField, inOwners]) {
        for (const answer of send(bed, body)) expect(answer).toSatisfy(isClear);
      }
      stillAnswers(bed);
    }
  });

  const yaml = { "content-type": "application/yaml" };
  it.each([
    [
      "aliases of aliases",
      `a: &a [x]\n${[..."bcdefghij"].map((k, i) => `${k}: &${k} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`).join("\n")}`,
    ],
    ["dashes on one line", `${"- ".repeat(200_000)}a`],
    ["brackets", "[".repeat(200_000)],
    ["questions", `${"? ".repeat(200_000)}a`],
    ["a thousand questions", `${"? ".repeat(1_000)}a`],
    ["a thousand maps", `${"{? ".repeat(1_000)}a${"}".repeat(1_000)}`],
  ])("may try YAML with %s", (_, body) => {
    const bed = bedWithMap(kubernetesProfile, MainStackBed);
    const refused = bed.ask(`POST ${configMaps}`, { headers: yaml, body });
    expect(refused.status).toBe(400);
    expect(refused.text).not.toContain("call stack");
    stillAnswers(bed);
  });

  it.each([{ a: 1 }, [{}], 1, true])("may have %j where a name belongs, and are told so in words", (odd) => {
    const bed = bedWithMap();
    const headers = { "content-type": "application/apply-patch+yaml" };
    for (const metadata of [{ name: odd }, { name: "a", namespace: odd }]) {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata };
      const refused = bed.ask(`PATCH ${configMaps}/a?fieldManager=m`, { headers, body });
      expect(refused.status).toBe(500);
      expect(refused.text).not.toContain("[object");
      expect(refused.text).toMatch(/create typed patch object \(\/a?; \/v1, Kind=ConfigMap\)/);
    }
    stillAnswers(bed);
  });

  it("may send document after document: the first is read, the others are not", () => {
    const bed = bedWithMap();
    const body = `# one\n---\n${JSON.stringify({ ...map, metadata: { name: "b" } })}\n${"---\n[\n".repeat(200_000)}`;
    expect(bed.ask(`POST ${configMaps}`, { headers: yaml, body }).status).toBe(201);
  });

  it("may copy copies: what they would grow to is refused, and a patch of honest size is not", () => {
    const bed = bedWithMap();
    const copies = (count: number) => ({
      headers: { "content-type": "application/json-patch+json" },
      body: Array.from({ length: count }, (_, at) => ({ op: "copy", from: "/metadata", path: `/metadata/x${at}` })),
    });
    expect(bed.ask(`PATCH ${configMaps}/a`, copies(60)).status).toBe(422);
    const honest = { op: "copy", from: "/data/k", path: "/data/l" };
    const answer = bed.ask(`PATCH ${configMaps}/a`, { ...copies(0), body: [honest] });
    expect(answer.at("data.l")).toBe("v");
  });

  it.each([
    ["a number of fifty thousand digits", `{"data":{"k":${"9".repeat(50_000)}}}`],
    ["a number beyond any", '{"data":{"k":1e999999999}}'],
    ["twenty thousand duplicates", `{"data":{${Array(20_000).fill('"k":"v"').join()}}}`],
    ["an unpaired surrogate", '{"data":{"k":"\\ud800"}}'],
  ])("may hold %s", (_, body) => {
    const bed = bedWithMap();
    for (const answer of send(bed, body)) expect(answer).toSatisfy(isClear);
    stillAnswers(bed);
  });

  it.each([
    ["labelSelector", "(".repeat(300_000)],
    ["labelSelector", "a=b,".repeat(100_000)],
    ["fieldSelector", "metadata.name=a,".repeat(100_000)],
    ["continue", "A".repeat(1_000_000)],
    ["resourceVersion", "9".repeat(100_000)],
  ])("may ask with an endless %s", (name, value) => {
    const bed = bedWithMap(svcProfile);
    expect(bed.ask(`GET ${configMaps}?${name}=${value}`)).toSatisfy(isClear);
    stillAnswers(bed);
  });
});

it("ten thousand watches are open at once, and each is told", { timeout: 60_000 }, () => {
  const bed = bedWithMap();
  const before = bed.server.runsInFlight;
  const watches = Array.from({ length: 10_000 }, () => bed.ask(`GET ${configMaps}?watch=true&resourceVersion=0`));
  bed.merge(`${configMaps}/a`, { data: { k: "w" } });
  expect(watches.every(({ text }) => text.includes('"MODIFIED"'))).toBe(true);
  for (const watch of watches) watch.cancel();
  expect(bed.server.runsInFlight).toBe(before);
});

describe.each([svcProfile, kubernetesProfile])("any request under $name", (profile) => {
  it("is answered with something else than a failure of the server", { timeout: 60_000 }, () => {
    const bed = bedWithMap(profile);
    fc.assert(
      fc.property(anyRequest, ({ body, ...rest }) => {
        const answer = new Array<[number, string]>();
        const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
        const sent = {
          ...rest,
          headers: { ...rest.headers, authorization: "Bearer admin" } as Record<string, string>,
          body: bytes,
        };
        bed.kernel.enter(bed.process, () => {
          const cancel = bed.server.start(sent, {
            respond: (status, _headers, payload) =>
              void answer.push([status, new TextDecoder().decode(payload.bytes())]),
            open: (status) => void answer.push([status, ""]),
            frame: () => 0,
            close: () => {},
          });
          cancel();
        });
        const [status = 200, text = ""] = answer[0] ?? [];
        if (status >= 500 && status !== 504) {
          expect(isCalledFor(profile.name, text), `${status} ${text}`).toBe(true);
        }
      }),
      { seed: 20_261_121, numRuns: 3_000 },
    );
    expect(bed.ask("GET /healthz").status).toBe(200);
  });
});
