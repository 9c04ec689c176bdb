/** What many requests make of one object, each short enough by itself. */
import { describe, expect, it } from "vitest";
import { objectBytesMax } from "../objects/value-limit.ts";
import { applied, type AttackRequest, post, times } from "./attack-requests.fixture.ts";
import { Struck, type Told } from "./struck.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";
const megabyte = "v".repeat(1024 * 1024);

/** On no node: nobody else writes to it. */
const pod = {
  metadata: { name: "long", finalizers: ["example.com/f"] },
  spec: { containers: [{ name: "c", image: "i" }], nodeName: "nowhere" },
};
const patched = (at: string, patch: object, type = "merge"): AttackRequest => ({
  method: "PATCH",
  path: at,
  headers: { "content-type": `application/${type}-patch+json` },
  body: JSON.stringify(patch),
});
/** One condition more: nothing but bytes bounds its text. */
const statusText = (at: number): object => ({
  status: { conditions: [{ type: `t${at}`, status: "True", message: megabyte }] },
});
const bytesOf = ({ payload }: Told): number => payload?.bytes().length ?? 0;

describe("an object that many requests make longer", () => {
  const grown = (at: number): AttackRequest => patched(`${pods}/long/status`, statusText(at), "strategic-merge");
  const longest = (): Struck => new Struck({ prepare: () => [post(pods, pod), ...times(7, grown)] }, 1);

  it("is refused beyond so many bytes, and stays as it was", () => {
    const struck = longest();
    const before = bytesOf(struck.send({ path: `${pods}/long` }));
    expect(before).toBeGreaterThan(7 * megabyte.length);
    const told = struck.send(grown(7));
    expect([told.status, new TextDecoder().decode(told.payload?.bytes())]).toEqual([
      413,
      expect.stringContaining(`the limit of bytes in one stored object is ${objectBytesMax}`),
    ]);
    expect(bytesOf(struck.send({ path: `${pods}/long` }))).toBe(before);
    expect(struck.failures).toEqual([]);
  });

  it("can be marked as going, made shorter, and goes", () => {
    const struck = longest();
    const left = objectBytesMax - bytesOf(struck.send({ path: `${pods}/long` }));
    // So long that nothing else fits.
    const fill = { status: { message: "v".repeat(left - 200) } };
    const filled = struck.send(patched(`${pods}/long/status`, fill, "strategic-merge"));
    expect([filled.status, objectBytesMax - bytesOf(filled) < 400]).toEqual([200, true]);
    const labels = Object.fromEntries(times(6, (at) => [`l${at}`, "v".repeat(63)]));
    const labelled = patched(`${pods}/long`, { metadata: { labels } });
    expect(struck.send(labelled).status).toBe(413);
    expect(struck.send({ method: "DELETE", path: `${pods}/long?gracePeriodSeconds=0` }).status).toBe(200);
    const shorter = { status: { conditions: [{ type: "t0", status: "True", message: "short" }] } };
    expect(struck.send(patched(`${pods}/long/status`, shorter, "strategic-merge")).status).toBe(200);
    expect(struck.send(patched(`${pods}/long`, { metadata: { finalizers: null } })).status).toBe(200);
    expect(struck.send({ path: `${pods}/long` }).status).toBe(404);
    expect(struck.failures).toEqual([]);
  });
});

it("an object that many own is refused when what they own is too long", () => {
  const struck = new Struck({}, 1);
  const long = "k".repeat(250);
  const data = Object.fromEntries(times(2_500, (at) => [`${long}${at}`.slice(-253), ""]));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "owned" }, data };
  const path = "/api/v1/namespaces/default/secrets/owned";
  const statuses = times(15, (at) => struck.send(applied(path, `m${at}`, secret)).status);
  expect(statuses.slice(0, 11)).toEqual([201, ...new Array<number>(10).fill(200)]);
  expect(statuses.slice(13)).toEqual([413, 413]);
  expect(struck.failures).toEqual([]);
});

describe("an object of too many values", () => {
  const conditions = (count: number): object => ({
    status: { conditions: times(count, (at) => ({ type: `t${at}`, status: "True" })) },
  });
  const status = `${pods}/long/status`;
  const label = patched(`${pods}/long`, { metadata: { labels: { a: "b" } } });

  it("is refused before it is stored, with what decoding adds to a patch or an application", () => {
    const struck = new Struck({ prepare: () => [post(pods, pod)] }, 1);
    // Three values each as they are sent, and two more as they are stored.
    for (const type of ["merge", "strategic-merge"]) {
      expect(struck.send(patched(status, conditions(20_000), type)).status).toBe(413);
    }
    const config = { apiVersion: "v1", kind: "Pod", metadata: { name: "long" }, ...conditions(20_000) };
    expect(struck.send(applied(status, "m", config)).status).toBe(413);
    expect(struck.send(patched(status, conditions(19_000))).status).toBe(200);
    expect([struck.send(label).status, struck.failures]).toEqual([200, []]);
  });

  it("is changed to no more of them when one who is not judged has stored it", () => {
    const struck = new Struck({ prepare: () => [post(pods, pod)] }, 1);
    const inProcess = { ...patched(status, {}), body: conditions(30_000) as unknown as string };
    expect([struck.send(inProcess).status, struck.send(label).status]).toEqual([200, 413]);
    expect(struck.send(patched(`${pods}/long`, { metadata: { finalizers: null } })).status).toBe(200);
    expect(struck.send(patched(status, conditions(0))).status).toBe(200);
    expect([struck.send(label).status, struck.failures]).toEqual([200, []]);
  });
});

it("an object that small requests have made large is written in many events, as one that came whole", () => {
  const configMaps = "/api/v1/namespaces/default/configmaps";
  const fields = (by: number, count: number): object =>
    Object.fromEntries(times(count, (at) => [`m${by}-${at}`, `v${by}`]));
  const made = (type: string, body: (at: number) => object): number => {
    const struck = new Struck({ prepare: () => [post(configMaps, { metadata: { name: "grown" } })] }, 1);
    const told = times(14, (at) => struck.send(patched(`${configMaps}/grown`, body(at), type)));
    const { status, eventCount = 0 } = told.at(-1) ?? {};
    expect([status, struck.failures]).toEqual([200, []]);
    return eventCount;
  };
  expect(made("merge", (at) => ({ data: fields(at, 1_000) }))).toBeGreaterThan(10);
  expect(made("strategic-merge", (at) => ({ data: fields(at, 1_000) }))).toBeGreaterThan(10);
  expect(made("merge", (at) => ({ data: fields(at, 10) }))).toBe(1);
});
