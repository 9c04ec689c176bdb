/** What many requests make of one object, each short enough by itself. */
import { describe, expect, it } from "vitest";
import { objectBytesMax } from "../objects/value-limit.ts";
import { type AttackRequest, post } from "./attack-requests.fixture.ts";
import { Struck, type Told } from "./struck.fixture.ts";

const path = "/api/v1/namespaces/default/secrets";
const pods = "/api/v1/namespaces/default/pods";
const megabyte = "v".repeat(1024 * 1024);

/** A pod of containers with long arguments: nothing but bytes bounds these. */
const pod = (containers: number, more: object = {}): object => ({
  metadata: { name: "long", ...more },
  spec: {
    containers: Array.from({ length: containers }, (_, at) => ({ name: `c${at}`, image: "i" })),
    nodeName: "nowhere",
  },
});
const patched = (at: string, patch: object, type = "merge"): AttackRequest => ({
  method: "PATCH",
  path: at,
  headers: { "content-type": `application/${type}-patch+json` },
  body: JSON.stringify(patch),
});
const statusText = (at: number): object => ({
  status: { conditions: [{ type: `t${at}`, status: "True", message: megabyte }] },
});
const bytesOf = ({ payload }: Told): number => payload?.bytes().length ?? 0;

describe("an object that many requests make longer", () => {
  const struck = new Struck({ prepare: () => [post(pods, pod(1, { finalizers: ["example.com/f"] }))] }, 1);
  const grown = (at: number): Told => struck.send(patched(`${pods}/long/status`, statusText(at), "strategic-merge"));

  it("is refused beyond so many bytes, and stays as it was", () => {
    const statuses = Array.from({ length: 9 }, (_, at) => grown(at).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 413, 413]);
    const text = new TextDecoder().decode(grown(9).payload?.bytes());
    expect(text).toContain(`Request entity too large: the limit of bytes in one stored object is ${objectBytesMax}`);
    expect(bytesOf(struck.send({ path: `${pods}/long` }))).toBeLessThan(objectBytesMax);
    expect(struck.failures).toEqual([]);
  });

  it("can be marked as going, made shorter, and goes", () => {
    const left = objectBytesMax - bytesOf(struck.send({ path: `${pods}/long` }));
    // So long that nothing else fits.
    const fill = { status: { message: "v".repeat(left - 200) } };
    const filled = struck.send(patched(`${pods}/long/status`, fill, "strategic-merge"));
    expect([filled.status, objectBytesMax - bytesOf(filled) < 400]).toEqual([200, true]);
    const labelled = patched(`${pods}/long`, {
      metadata: {
        labels: {
          a: "v".repeat(63),
          b: "v".repeat(63),
          c: "v".repeat(63),
          d: "v".repeat(63),
          e: "v".repeat(63),
          f: "v".repeat(63),
        },
      },
    });
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
  const applied = (manager: string): AttackRequest => ({
    method: "PATCH",
    path: `${path}/owned?fieldManager=${manager}`,
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "owned" },
      data: Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`${long}${at}`.slice(-253), ""])),
    }),
  });
  const statuses = Array.from({ length: 15 }, (_, at) => struck.send(applied(`m${at}`)).status);
  expect(statuses.slice(0, 11)).toEqual([201, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200]);
  expect(statuses.slice(13)).toEqual([413, 413]);
  expect(struck.failures).toEqual([]);
});
