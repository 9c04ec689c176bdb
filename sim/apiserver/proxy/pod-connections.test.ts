import { describe, expect, it } from "vitest";
import { type Answer, TestBed } from "../test-bed.fixture.ts";
import type { ForwardedAnswer, ForwardedRequest } from "./forward.ts";

const pods = "/api/v1/namespaces/default/pods";
const logUrl = "https://10.2.0.1:10250/containerLogs/default/p/c";

/** A server with a pod, whose node has an agent that answers alike. */
class Cluster {
  readonly sent: ForwardedRequest[] = [];
  readonly bed: TestBed;
  answer: ForwardedAnswer = { status: 200, headers: {}, body: new TextEncoder().encode("a\nb\n") };

  constructor(containers: readonly string[] = ["c"], initContainers: readonly string[] = []) {
    this.bed = new TestBed({
      forward: (request, done) => {
        this.sent.push(request);
        done(this.answer);
        return () => {};
      },
    });
    const named = (names: readonly string[]) => names.map((name) => ({ name, image: "i" }));
    const spec = { containers: named(containers), initContainers: named(initContainers) };
    this.bed.ask(`POST ${pods}`, { body: { metadata: { name: "p" }, spec } });
  }

  /** The pod gets a node, which may not be there. */
  bound({ withNode = true } = {}): this {
    const target = { kind: "Node", name: "n" };
    this.bed.ask(`POST ${pods}/p/binding`, { body: { metadata: { name: "p" }, target } });
    if (!withNode) return this;
    this.bed.ask("POST /api/v1/nodes", { body: { metadata: { name: "n" } } });
    const addresses = [{ type: "InternalIP", address: "10.2.0.1" }];
    this.bed.merge("/api/v1/nodes/n/status", { status: { addresses } });
    return this;
  }

  refusal(subresource: string, headers: Record<string, string> = {}): readonly unknown[] {
    const { status, body } = this.bed.ask(`GET ${pods}/p/${subresource}`, { headers });
    return [status, body["message"]];
  }

  log(query = "", headers: Record<string, string> = {}): Answer {
    return this.bed.ask(`GET ${pods}/p/log${query}`, { headers });
  }
}

describe("a pod's log", () => {
  it("comes from the agent of its node, as plain text", () => {
    const cluster = new Cluster().bound();
    const { status, text, contentType } = cluster.log("", { accept: "text/plain" });
    expect([status, text, contentType]).toEqual([200, "a\nb\n", "text/plain"]);
    expect(cluster.sent).toMatchObject([
      { scheme: "https", host: "10.2.0.1", port: "10250", method: "GET", target: "/containerLogs/default/p/c" },
    ]);
  });

  it("is asked for with the options of the request", () => {
    const cluster = new Cluster(["a", "b"]).bound();
    cluster.log("?container=b&timestamps=true&previous=0&tailLines=5&sinceTime=2026-01-01T01:00:00%2B01:00");
    expect(cluster.sent[0]?.target).toBe(
      "/containerLogs/default/p/b?sinceTime=2026-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true",
    );
  });

  it("is empty for a pod on no node", () => {
    const cluster = new Cluster();
    expect([cluster.log().status, cluster.log().text, cluster.sent]).toEqual([204, "", []]);
  });

  it.each<[string, ForwardedAnswer, readonly unknown[]]>([
    [
      "cannot be reached",
      { error: "dial tcp 10.2.0.1:10250: connect: connection refused" },
      [500, undefined, `Get "${logUrl}": dial tcp 10.2.0.1:10250: connect: connection refused`],
    ],
    ["has none", refused(404), [404, "NotFound", "the server could not find the requested resource ( pods/log p)"]],
    ["finds the request wrong", refused(400), [400, "BadRequest", "no"]],
    ["fails", refused(500), [500, "InternalError", "Internal error occurred: no"]],
    [
      "wants to know who asks",
      refused(401),
      [401, "Unauthorized", "the server has asked for the client to provide credentials ( pods/log p)"],
    ],
    [
      "sends the server away",
      refused(302),
      [
        302,
        undefined,
        "the server responded with the status code 302 but did not return more information ( pods/log p)",
      ],
    ],
  ])("is refused with the reason where the agent %s", (_, answer, expected) => {
    const cluster = new Cluster().bound();
    cluster.answer = answer;
    const { status, body } = cluster.log();
    expect([status, body["reason"], body["message"]]).toEqual(expected);
  });

  function refused(status: number): ForwardedAnswer {
    return { status, headers: {}, body: new TextEncoder().encode("no") };
  }

  it.each([
    ["?tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"],
    ["?limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"],
    ["?sinceSeconds=0", 422, "sinceSeconds: Invalid value: 0: must be greater than 0"],
    ["?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", 422, "at most one of `sinceTime` or `sinceSeconds`"],
    ["?stream=Stdout", 422, "stream: Forbidden: may not be specified"],
    ["?tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["?sinceTime=x", 400, 'parsing time "x"'],
    ["?container=d", 400, "container d is not valid for pod p"],
  ])("is refused for %s", (query, status, message) => {
    const cluster = new Cluster().bound();
    const answer = cluster.log(query);
    expect([answer.status, answer.at("message"), cluster.sent]).toEqual([status, expect.stringContaining(message), []]);
  });

  it("says which containers there are", () => {
    expect(new Cluster(["a", "b"], ["i"]).refusal("log")).toEqual([
      400,
      "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]",
    ]);
  });

  it("says what is missing: the pod, its node, the node's address", () => {
    const cluster = new Cluster();
    expect(cluster.bed.ask(`GET ${pods}/absent/log`).at("message")).toBe('pods "absent" not found');
    cluster.bound({ withNode: false });
    expect(cluster.refusal("log")).toEqual([404, 'nodes "n" not found']);
    cluster.bed.ask("POST /api/v1/nodes", { body: { metadata: { name: "n" } } });
    expect(cluster.refusal("log")).toEqual([500, "no preferred addresses found; known addresses: []"]);
  });

  it("is called off with its client", () => {
    let isCancelled = false;
    const bed = new TestBed({ forward: () => () => void (isCancelled = true) });
    const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
    bed.ask(`POST ${pods}`, { body: { metadata: { name: "p" }, spec } });
    bed.ask("POST /api/v1/nodes", { body: { metadata: { name: "n" } } });
    bed.merge("/api/v1/nodes/n/status", { status: { addresses: [{ type: "Hostname", address: "n" }] } });
    const answer = bed.ask(`GET ${pods}/p/log`);
    bed.advance(3600);
    expect(answer.over).toBe(false);
    answer.cancel();
    expect(isCancelled).toBe(true);
  });
});

describe.each(["exec", "attach", "portforward"])("a connection for %s", (what) => {
  it("is refused for what is missing, and then for its protocol", () => {
    const cluster = new Cluster();
    expect(cluster.bed.ask(`POST ${pods}/absent/${what}`).at("message")).toBe('pods "absent" not found');
    expect(cluster.refusal(what)).toEqual([400, "pod p does not have a host assigned"]);
    cluster.bound();
    expect(cluster.refusal(what)).toEqual([400, "Upgrade request required"]);
    expect(cluster.refusal(what, { connection: "upgrade", upgrade: "SPDY/3.1" })).toEqual([
      400,
      "this server does not upgrade connections to other protocols: SPDY/3.1 was asked for",
    ]);
  });
});

it("shows webhooks and policies what a connection is for", () => {
  const asked: unknown[] = [];
  const bed = new TestBed({
    admission: [
      {
        name: "witness",
        sideEffects: false,
        handles: ({ operation }) => operation === "CONNECT",
        admit: ({ object }, done) => {
          asked.push(object);
          done({});
          return () => {};
        },
      },
    ],
  });
  bed.ask(`POST ${pods}/p/exec?command=ls&command=-l&stdin=true&tty=false&container=c`);
  bed.ask(`POST ${pods}/p/portforward?ports=80`);
  expect(asked).toEqual([
    { kind: "PodExecOptions", apiVersion: "v1", stdin: true, container: "c", command: ["ls", "-l"] },
    { kind: "PodPortForwardOptions", apiVersion: "v1", ports: [80] },
  ]);
});
