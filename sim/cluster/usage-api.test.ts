import { expect, it } from "vitest";
import { ApiClient, type ClientAnswer, type ClientRequest } from "../client/api-client.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Cluster } from "./cluster.ts";
import { addLiving, type LivingNodes } from "./living.ts";
import { nodeForward } from "./node-forward.ts";
import { nodeFileSchema } from "../../scenarios/node-file.ts";
import { nodesOf } from "./node-pools.ts";
import { UsageApi } from "./usage-api.ts";

const { dialect } = kubernetesProfile;
const group = "/apis/metrics.k8s.io/v1beta1";

function world() {
  const kernel = new Kernel({ seed: "usage" });
  const cluster = new Cluster({ kernel });
  const tokens = [
    { token: "admin", user: "admin", uid: "1", groups: ["system:masters"] },
    { token: "alice", user: "alice", uid: "2", groups: [] },
  ];
  const { made: server, process } = cluster.addServer("apiserver", () => ({
    tokens,
    profile: kubernetesProfile,
    authorizationModes: ["RBAC"],
    forward: nodeForward({
      at: (host, port) => nodes.at(host, port),
      turn: (work) => work(),
      elsewhere: (_request, done) => {
        done({ error: "no route" });
        return () => {};
      },
    }),
  }));
  const nodes: LivingNodes = addLiving(cluster, {
    dialect,
    nodes: nodesOf(nodeFileSchema.parse({ pools: [{ name: "n", count: 2 }] }).pools, dialect),
    hasRealRates: false,
  });
  const usage = new UsageApi({ server, process, dialect });
  const advance = (seconds: number): void => kernel.run(kernel.nowMicros() + seconds * 1_000_000);
  const ask = (path: string, as = "admin", more: Partial<ClientRequest> = {}) => {
    let heard: ClientAnswer | undefined;
    const [place = "", query = ""] = path.split("?");
    kernel.enter(process, () =>
      new ApiClient(process, usage, as).call({ method: "GET", path: place, query, ...more }, 5_000_000, (answer) => {
        heard = answer;
      }),
    );
    advance(0.1);
    if (heard?.ok !== true) throw new Error(`${path}: no answer`);
    return heard;
  };
  /** The bodies of both answers, each as a whole and put together from its pieces. */
  const askTwice = (path: string): readonly string[] => {
    const texts: string[] = [];
    kernel.enter(process, () => {
      for (let time = 0; time < 2; time++)
        new ApiClient(process, usage, "admin").call({ method: "GET", path, query: "" }, 5_000_000, (answer) => {
          const payload = answer.ok ? answer.payload : undefined;
          const whole = Buffer.from(payload?.bytes() ?? []).toString();
          const pieces: Uint8Array[] = [];
          for (let slices = payload?.slices?.(), next = slices?.next(); next?.done === false; next = slices?.next())
            pieces.push(next.value);
          texts.push(whole, Buffer.concat(pieces).toString());
        });
    });
    advance(0.1);
    return texts;
  };
  advance(5);
  return { ask, askTwice, advance };
}

const namesOf = (list: JsonObject): readonly string[] =>
  (list["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

it("tells what nodes and pods use, by list, name, namespace and label", () => {
  const { ask, advance } = world();
  for (const [name, app] of [
    ["one", "a"],
    ["two", "b"],
  ]) {
    const spec = { containers: [{ name: "c", image: "i" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app } }, spec } as JsonObject;
    ask("/api/v1/namespaces/default/pods", "admin", { method: "POST", body });
  }
  advance(30);
  const nodes = ask(`${group}/nodes`).object;
  expect([nodes["kind"], namesOf(nodes)]).toEqual(["NodeMetricsList", ["n-0", "n-1"]]);
  expect((nodes["items"] as JsonObject[])[0]).toMatchObject({
    kind: "NodeMetrics",
    apiVersion: "metrics.k8s.io/v1beta1",
    usage: { cpu: expect.stringMatching(/^\d+n$/), memory: expect.stringMatching(/^\d+Ki$/) },
  });
  expect(namesOf(ask(`${group}/pods`).object)).toEqual(["one", "two"]);
  expect(namesOf(ask(`${group}/namespaces/default/pods?labelSelector=app%3Da`).object)).toEqual(["one"]);
  expect(ask(`${group}/namespaces/default/pods/two`).object).toMatchObject({
    kind: "PodMetrics",
    containers: [{ name: "c", usage: { cpu: expect.any(String) } }],
  });
  const page = ask(`${group}/nodes?limit=1`).object;
  const { continue: token } = page["metadata"] as { continue: string };
  expect([namesOf(page), namesOf(ask(`${group}/nodes?limit=1&continue=${token}`).object)]).toEqual([["n-0"], ["n-1"]]);
  // A name is one part of a path, whatever is in it.
  expect(ask(`${group}/namespaces/default%2Fpods%2Ftwo%2Fproxy/pods`).object["items"] ?? []).toEqual([]);
  expect([ask(`${group}/nodes/none`).status, ask(`${group}/namespaces/other/pods`).object["items"]]).toEqual([404, []]);
});

it("reads an agent once for all who ask meanwhile, and gives a list in pieces", () => {
  const { ask, askTwice, advance } = world();
  for (let at = 0; at < 60; at++) {
    const spec = { nodeName: "n-1", containers: [{ name: "c", image: "i" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: `p${at}` }, spec } as JsonObject;
    ask("/api/v1/namespaces/default/pods", "admin", { method: "POST", body });
  }
  advance(60);
  const [first = "", ...others] = askTwice(`${group}/pods`);
  expect(namesOf(JSON.parse(first) as JsonObject)).toHaveLength(60);
  expect(others).toEqual([first, first, first]);
});

it("has no figures of an agent that says something else", () => {
  const kernel = new Kernel({ seed: "usage" });
  const process = kernel.process("apiserver");
  const said = [
    ...["", "[]", "null", "5", '{"pods":5}', '{"pods":[null]}', '{"pods":[{"podRef":{"uid":"u"},"containers":{}}]}'],
    ...['{"pods":[{"podRef":{"uid":"u"},"containers":[null]}]}', '{"node":null}', '{"node":5,"pods":null}'],
  ];
  const pod = { metadata: { name: "p", uid: "u" }, spec: { nodeName: "n" } };
  const answers: Readonly<Record<string, JsonObject>> = {
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": { status: { allowed: true } },
    "/api/v1/pods": { items: [pod] },
    "/api/v1/nodes": { items: [{ metadata: { name: "n" } }] },
  };
  for (const text of said) {
    const bytes = (path: string): Uint8Array =>
      new TextEncoder().encode(path.endsWith("/stats/summary") ? text : JSON.stringify(answers[path]));
    const server: ApiHandler = {
      start({ method, path }, responder) {
        const of = { object: answers[path], contentType: "application/json", bytes: () => bytes(path) };
        process.clock.after(1, () => responder.respond(method === "POST" ? 201 : 200, {}, of));
        return () => {};
      },
    };
    const usage = new UsageApi({ server, process, dialect });
    const items: unknown[] = [];
    kernel.enter(process, () => {
      for (const resource of ["pods", "nodes"])
        new ApiClient(process, usage, "admin").call(
          { method: "GET", path: `${group}/${resource}`, query: "" },
          5_000_000,
          (answer) => items.push(answer.ok && answer.object["items"]),
        );
    });
    kernel.run(kernel.nowMicros() + 1_000_000);
    expect([text, ...items]).toEqual([text, [], []]);
  }
});

it("is discovered, plain and aggregated, and serves nothing but reads", () => {
  const { ask } = world();
  const groups = ask("/apis").object["groups"] as { name: string }[];
  expect(groups.at(-1)?.name).toBe("metrics.k8s.io");
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const whole = ask("/apis", "admin", { accept }).object["items"] as { metadata: { name: string } }[];
  expect(whole.at(-1)?.metadata.name).toBe("metrics.k8s.io");
  expect(ask(group).object["resources"]).toHaveLength(2);
  expect(ask("/apis/metrics.k8s.io").object["name"]).toBe("metrics.k8s.io");
  expect(ask(`${group}/nodes`, "admin", { method: "POST", body: {} }).status).toBe(405);
  expect([ask(`${group}/other`).status, ask("/apis/metrics.k8s.io/v1").status]).toEqual([404, 404]);
});

it("is for those who may: the server knows who asks, and its rules decide", () => {
  const { ask } = world();
  expect([ask(`${group}/nodes`, "alice").status, ask(`${group}/nodes`, "nobody").status]).toEqual([403, 401]);
  const body = (kind: string, more: object): JsonObject => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind,
    metadata: { name: "usage" },
    ...more,
  });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: ["metrics.k8s.io"], resources: ["nodes"], verbs: ["list"] }];
  ask(`${rbac}/clusterroles`, "admin", { method: "POST", body: body("ClusterRole", { rules }) });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "usage" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }];
  ask(`${rbac}/clusterrolebindings`, "admin", {
    method: "POST",
    body: body("ClusterRoleBinding", { roleRef, subjects }),
  });
  expect([ask(`${group}/nodes`, "alice").status, ask(`${group}/nodes/n-1`, "alice").status]).toEqual([200, 403]);
  expect(ask(`${group}/pods`, "alice").status).toBe(403);
});
