import { describe, expect, it } from "vitest";
import { TestBed } from "../test-bed.fixture.ts";
import type { Forward, ForwardedAnswer, ForwardedRequest } from "./forward.ts";
import { decidedAtOnce } from "../access/authorize.ts";

const core = "/api/v1/namespaces/default";

/** A bed whose requests to others end in a list, and are answered alike. */
function proxying(answer: Partial<Exclude<ForwardedAnswer, { error: string }>> | { error: string } = {}) {
  const sent: ForwardedRequest[] = [];
  const forward: Forward = (request, done) => {
    sent.push(request);
    done("error" in answer ? answer : { status: 200, headers: {}, body: new TextEncoder().encode("hello"), ...answer });
    return () => {};
  };
  return { bed: new TestBed({ forward }), sent };
}

function withService(bed: TestBed, subsets: readonly object[] | undefined): void {
  const ports = [
    { name: "web", port: 80 },
    { name: "admin", port: 81 },
  ];
  expect(bed.ask(`POST ${core}/services`, { body: { metadata: { name: "s" }, spec: { ports } } }).status).toBe(201);
  if (subsets === undefined) return;
  expect(bed.ask(`POST ${core}/endpoints`, { body: { metadata: { name: "s" }, subsets } }).status).toBe(201);
}

const oneReady = {
  addresses: [{ ip: "10.1.0.1" }],
  notReadyAddresses: [{ ip: "10.1.0.2" }],
  ports: [
    { name: "web", port: 8080 },
    { name: "admin", port: 8081 },
  ],
};

const hostOf = ({ scheme, host, port }: ForwardedRequest): string => `${scheme}://${host}:${port}`;

describe("a service's proxy", () => {
  it.each([
    ["s:web", "http://10.1.0.1:8080"],
    ["s:81", "http://10.1.0.1:8081"],
    ["https:s:admin", "https://10.1.0.1:8081"],
  ])("sends %s to %s", (id, host) => {
    const { bed, sent } = proxying();
    withService(bed, [oneReady]);
    const answer = bed.ask(`GET ${core}/services/${id}/proxy/`);
    expect([answer.status, answer.text]).toEqual([200, "hello"]);
    expect(sent.map(hostOf)).toEqual([host]);
  });

  it.each([
    ["ftp:s:web", [oneReady], 400, 'invalid service request "ftp:s:web"'],
    ["s:web", undefined, 404, 'endpoints "s" not found'],
    ["absent:80", [oneReady], 404, 'services "absent" not found'],
    ["s:web", [], 503, 'no endpoints available for service "s"'],
    ["s:82", [oneReady], 503, 'no service port 82 found for service "s"'],
    ["s:other", [oneReady], 503, 'no endpoints available for service "s:other"'],
    ["s:web", [{ ...oneReady, addresses: [] }], 503, 'no endpoints available for service "s:web"'],
    ["s:web", [withPod("absent")], 503, 'no endpoints available for service "s:web"'],
  ])("refuses %s with %j: %i", (id, subsets, status, message) => {
    const { bed, sent } = proxying();
    withService(bed, subsets);
    const answer = bed.ask(`GET ${core}/services/${id}/proxy/`);
    expect([answer.status, answer.at("message")]).toEqual([status, message]);
    expect(sent).toEqual([]);
  });

  function withPod(name: string): object {
    const targetRef = { kind: "Pod", namespace: "default", name };
    return { ...oneReady, addresses: [{ ip: "10.1.0.1", targetRef }] };
  }

  it("hands on method, path, query, body and headers, but for credentials and what is a connection's", () => {
    const { bed, sent } = proxying();
    withService(bed, [oneReady]);
    const headers = {
      host: "api.example",
      "x-mine": "1",
      "x-hop": "2",
      connection: "x-hop",
      "content-type": "text/x",
      accept: "image/png",
    };
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const answer = bed.ask(`${method} ${core}/services/s:web/proxy/a%2Fb//c%20d;e=1/?x=%41&timeout=z&x`, {
        headers,
        body: "some text",
      });
      expect(answer.status).toBe(200);
    }
    expect(sent.map(({ method }) => method)).toEqual(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
    const { target, headers: handedOn, body } = sent[0] as ForwardedRequest;
    expect(target).toBe("/a%2Fb//c%20d;e=1/?x=%41&timeout=z&x");
    expect(new TextDecoder().decode(body)).toBe("some text");
    expect(handedOn).toEqual({
      host: "api.example",
      "x-mine": "1",
      "content-type": "text/x",
      accept: "image/png",
      "x-forwarded-uri": `${core}/services/s:web/proxy/a%2Fb//c%20d;e=1/`,
    });
  });

  it("brings back status, headers and body, and leads redirects through itself", () => {
    const { bed } = proxying({
      status: 307,
      headers: {
        "content-type": "text/x",
        location: "/there?a=b",
        "set-cookie": ["a=1", "b=2"],
        "transfer-encoding": "chunked",
        "http2-settings": "AAMAAABk",
        "access-control-allow-origin": "*",
        "cache-control": "max-age=1",
      },
    });
    withService(bed, [oneReady]);
    const { status, contentType, text, headers } = bed.ask(`GET ${core}/services/s:web/proxy/here`);
    expect([status, contentType, text]).toEqual([307, "text/x", "hello"]);
    expect(headers["location"]).toBe(`${core}/services/s:web/proxy/there?a=b`);
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers["cache-control"]).toEqual(["no-cache, private", "max-age=1"]);
    expect(headers).not.toHaveProperty("transfer-encoding");
    expect(headers).not.toHaveProperty("http2-settings");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("knows no header by what every object inherits", () => {
    const { bed } = proxying({ headers: { constructor: "a", ["__proto__"]: "b", "0": "c" } });
    withService(bed, [oneReady]);
    const { headers } = bed.ask(`GET ${core}/services/s:web/proxy/`);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(
      ["constructor", "__proto__", "0"].map((name) => Object.getOwnPropertyDescriptor(headers, name)?.value),
    ).toEqual([["a"], ["b"], ["c"]]);
  });

  it("sends those who forgot the slash to it, and others on", () => {
    const { bed, sent } = proxying();
    withService(bed, [oneReady]);
    const answer = bed.ask(`GET ${core}/services/s:web/proxy?a=b`);
    expect([answer.status, answer.headers["location"]]).toEqual([301, `${core}/services/s:web/proxy/?a=b`]);
    expect(sent).toEqual([]);
    expect(bed.ask(`POST ${core}/services/s:web/proxy`).status).toBe(200);
    expect(sent[0]?.target).toBe("/");
  });

  it("says why nobody answers", () => {
    const { bed } = proxying({ error: "dial tcp 10.1.0.1:8080: connect: connection refused" });
    withService(bed, [oneReady]);
    const { status, reason, text } = bed.ask(`GET ${core}/services/s:web/proxy/`);
    expect([status, reason]).toEqual([503, "ServiceUnavailable"]);
    expect(text).toContain("error trying to reach service: dial tcp 10.1.0.1:8080: connect: connection refused");
  });

  it("waits, for as long as it takes, and is called off with its client", () => {
    let isCancelled = false;
    let finish: (answer: ForwardedAnswer) => void = () => {};
    const bed = new TestBed({
      forward: (_, done) => {
        finish = done;
        return () => void (isCancelled = true);
      },
    });
    withService(bed, [oneReady]);
    const slow = bed.ask(`GET ${core}/services/s:web/proxy/`);
    bed.advance(3600);
    expect(slow.over).toBe(false);
    finish({ status: 200, headers: {}, body: new TextEncoder().encode("at last") });
    expect(slow.text).toBe("at last");
    const given = bed.ask(`GET ${core}/services/s:web/proxy/`);
    given.cancel();
    expect(isCancelled).toBe(true);
    expect(given.over).toBe(false);
  });

  it("reaches nobody where the server was given no way", () => {
    const bed = new TestBed();
    withService(bed, [oneReady]);
    expect(bed.ask(`GET ${core}/services/s:web/proxy/`).status).toBe(503);
  });
});

describe("a pod's proxy", () => {
  it.each([
    ["p", { podIP: "10.1.0.9" }, "http://10.1.0.9:8443"],
    ["https:p:99", { podIP: "10.1.0.9" }, "https://10.1.0.9:99"],
  ])("sends %s to %s", (id, status, host) => {
    const { bed, sent } = withPodOf(status);
    expect(bed.ask(`GET ${core}/pods/${id}/proxy/x`).status).toBe(200);
    expect(sent.map(hostOf)).toEqual([host]);
  });

  it.each([
    ["no address", {}],
    ["the server's own machine", { podIP: "127.0.0.1" }],
    ["its link", { podIP: "169.254.169.254" }],
  ])("does not go to %s", (_, status) => {
    const { bed, sent } = withPodOf(status);
    const answer = bed.ask(`GET ${core}/pods/p/proxy/x`);
    expect([answer.status, answer.at("message"), sent]).toEqual([400, "address not allowed", []]);
    expect(bed.ask(`GET ${core}/pods/absent/proxy/x`).at("message")).toBe('pods "absent" not found');
  });

  function withPodOf(status: object) {
    const proxied = proxying();
    const containers = [{ name: "c", image: "i", ports: [{ containerPort: 8443 }] }];
    const pod = { metadata: { name: "p" }, spec: { containers } };
    expect(proxied.bed.ask(`POST ${core}/pods`, { body: pod }).status).toBe(201);
    const podIPs = "podIP" in status ? { podIPs: [{ ip: status.podIP }] } : {};
    const patched = proxied.bed.merge(`${core}/pods/p/status`, { status: { ...status, ...podIPs } });
    expect(patched.status).toBe(200);
    return proxied;
  }
});

describe("a node's proxy", () => {
  it.each([
    ["n", "https://n.example:10255"],
    ["n:10255", "https://n.example:10255"],
    ["n:80", "http://n.example:80"],
    ["https:n:80", "https://n.example:80"],
  ])("sends %s to %s", (id, host) => {
    const { bed, sent } = proxying();
    bed.ask("POST /api/v1/nodes", { body: { metadata: { name: "n" } } });
    const none = bed.ask(`GET /api/v1/nodes/${id}/proxy/x`);
    expect([none.status, none.at("message")]).toEqual([500, "no preferred addresses found; known addresses: []"]);
    const addresses = [
      { type: "InternalIP", address: "10.2.0.1" },
      { type: "Hostname", address: "n.example" },
    ];
    bed.merge("/api/v1/nodes/n/status", {
      status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 10255 } } },
    });
    expect(bed.ask(`GET /api/v1/nodes/${id}/proxy/x`).status).toBe(200);
    expect(sent.map(hostOf)).toEqual([host]);
    expect(sent[0]?.isGlobalOnly ?? false).toBe(host.endsWith(":80")); // the agent may be on this machine, others may not
    expect(bed.ask("GET /api/v1/nodes/absent/proxy/x").status).toBe(404);
  });
});

it("asks for the right to the subresource, by method", () => {
  const asked: unknown[] = [];
  const bed = new TestBed({
    authorizer: decidedAtOnce((_, attributes) => {
      asked.push(attributes);
      return { allowed: false, denied: true, reason: "" };
    }),
  });
  for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
    expect(bed.ask(`${method} ${core}/services/https:s:1/proxy/a/b`).status).toBe(403);
  }
  const attributes = { subresource: "proxy", namespace: "default", name: "https:s:1" };
  expect(asked).toEqual(
    ["get", "get", "create", "update", "patch", "delete"].map((verb) =>
      expect.objectContaining({ ...attributes, verb }),
    ),
  );
});

it("is no part of other resources, and never a path out of its own", () => {
  const { bed, sent } = proxying();
  withService(bed, [oneReady]);
  expect(bed.ask(`GET ${core}/configmaps/a/proxy/b`).status).toBe(404);
  expect(bed.ask(`TRACE ${core}/services/s:web/proxy/b`).status).toBe(405);
  expect(bed.ask(`GET ${core}/services/s:web/proxy/../../s`).at("kind")).toBe("Service");
  expect(sent).toEqual([]);
});
