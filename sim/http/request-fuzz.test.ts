/** Any request at all, over a real socket: never a 500 that the profile does not call for, and the server goes on. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AnyRequest, anyRequest } from "./any-request.fixture.ts";
import { isCalledFor } from "../apiserver/called-for-failures.fixture.ts";
import { profiles } from "../contract/profile.ts";
import type { Listening } from "./http1-server.ts";
import { RawSocket, statuses } from "./raw-socket.fixture.ts";
import { startWallServer } from "./wall-server.ts";

let server: Listening;
let failures: unknown[];

afterEach(() => server.close(0));

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const latin1 = (value: string): string => Buffer.from(value).toString("latin1");

/** How a body is said to be long, rightly or wrongly. */
const framing = fc.constantFrom("length", "length", "length", "chunked", "short", "long", "both", "none");

function framed(body: string, how: string): string {
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const length = (bytes: number): string => `Content-Length: ${bytes}\r\n`;
  switch (how) {
    case "chunked":
      return `Transfer-Encoding: chunked\r\n\r\n${chunks}`;
    case "short":
      return `${length(Math.max(0, body.length - 3))}\r\n${body}`;
    case "long":
      return `${length(body.length + 3)}\r\n${body}`;
    case "both":
      return `${length(body.length)}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
    case "none":
      return `\r\n${body}`;
    default:
      return `${length(body.length)}\r\n${body}`;
  }
}

/** Line breaks in what was drawn end lines, as they would in a client that lets them through. */
function onTheWire({ method, path, query, headers, body }: AnyRequest, how: string): string {
  const lines = Object.entries({ host: "h", authorization: "Bearer admin", ...headers });
  const bytes = body === undefined ? "" : typeof body === "string" ? latin1(body) : text(body);
  const target = latin1(query === "" ? path : `${path}?${query}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${latin1(value)}\r\n`).join("")}${framed(bytes, how)}`;
}

/** A request with some of its bytes replaced. */
const damaged = fc
  .tuple(anyRequest, framing, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }))
  .map(([request, how, changes]) => {
    const bytes = Buffer.from(onTheWire(request, how), "latin1");
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return text(bytes);
  });

const sent = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(anyRequest, framing).map(([request, how]) => onTheWire(request, how)) },
  {
    weight: 1,
    arbitrary: fc.array(anyRequest, { maxLength: 4 }).map((all) => all.map((one) => onTheWire(one, "length")).join("")),
  },
  { weight: 1, arbitrary: damaged },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 200 }).map(text) },
);

describe.each(Object.values(profiles))("any bytes under $name", (profile) => {
  beforeEach(async () => {
    failures = [];
    server = await startWallServer({
      seed: "fuzz",
      port: 0,
      bindAddress: "127.0.0.1",
      profile,
      tokens: [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }],
      onError: (error) => failures.push(error),
    });
  });

  it("are answered with something else than a failure of the server, or the connection ends", async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(sent, async (bytes) => {
        const socket = new RawSocket(server.port, bytes);
        socket.socket.end(); // watches and waits end with their client
        const received = await socket.ended;
        for (const status of statuses(received)) {
          seen.add(status);
          if (status === 500) expect(isCalledFor(profile.name, received), received).toBe(true);
          else expect(status === 504 || (status >= 200 && status < 500), received).toBe(true);
        }
        expect(failures).toEqual([]);
      }),
      { seed: 20_261_121, numRuns: 1_500 },
    );
    // It was no fuzz of one refusal.
    expect([200, 201, 400, 404, 405, 409, 415, 422].filter((status) => !seen.has(status))).toEqual([]);
    const last = await new RawSocket(
      server.port,
      "GET /healthz HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer admin\r\nConnection: close\r\n\r\n",
    ).ended;
    expect(last).toMatch(/^HTTP\/1\.1 200 /);
  });
});
