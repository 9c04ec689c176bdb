import { expect, it } from "vitest";
import { ApiClient, type ClientAnswer, type ClientRequest } from "../client/api-client.ts";
import { noControllers } from "../control/controllers.ts";
import { Kernel } from "../kernel/kernel.ts";
import { svcProfile } from "../contract/profile.ts";
import { bugsOn } from "../planted/server-bugs.ts";
import { Cluster } from "./cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];

/** A cluster whose server has no controllers, and a client of it. */
function newCluster(latencyMicros = 0) {
  const kernel = new Kernel({ seed: "cluster" });
  const cluster = new Cluster({ kernel, network: { rules: [{ from: "*", to: "*", latencyMicros }] } });
  const server = cluster.addServer("apiserver", () => ({ tokens, controllers: noControllers }));
  const user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
  const ask = (request: ClientRequest, seconds = 1): ClientAnswer | undefined => {
    let answer: ClientAnswer | undefined;
    kernel.enter(user.process, () =>
      user.made.call(request, 5_000_000, (found) => {
        answer = found;
      }),
    );
    kernel.run(kernel.nowMicros() + seconds * 1_000_000);
    return answer;
  };
  return { kernel, cluster, server, user, ask };
}

const named = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

it("keeps what is stored when its server crashes; until the next one runs, calls are refused", () => {
  const { server, ask } = newCluster();
  expect(ask({ method: "POST", path: configMaps, body: named("a") })).toMatchObject({ ok: true, status: 201 });
  const first = server.process;
  server.crash();
  server.crash();
  expect(server.isAlive).toBe(false);
  expect(ask({ method: "GET", path: `${configMaps}/a` })).toEqual({ ok: false, failure: "refused" });
  server.start();
  expect(server.process).not.toBe(first);
  expect(ask({ method: "GET", path: `${configMaps}/a` })).toMatchObject({ ok: true, status: 200 });
  expect(() => server.start()).toThrow("a member is started once it is down");
});

it("reaches a server over the network: latency counts both ways, and a partition is a silence", () => {
  const { kernel, cluster, ask } = newCluster(20_000);
  const before = kernel.nowMicros();
  let answeredMicros = 0;
  const { process, made } = cluster.add("other", (each) => new ApiClient(each, cluster.api(each), "admin"));
  kernel.enter(process, () =>
    made.call({ method: "GET", path: configMaps }, 1_000_000, () => {
      answeredMicros = kernel.nowMicros();
    }),
  );
  kernel.run(before + 500_000);
  expect(answeredMicros - before).toBe(40_000);
  cluster.network.partition("user", "apiserver");
  expect(ask({ method: "GET", path: configMaps }, 10)).toEqual({ ok: false, failure: "deadline" });
});

it("runs controllers in a process of their own, which may crash while the server lives", () => {
  const { cluster, ask } = newCluster();
  const { dialect } = svcProfile;
  const controllers = cluster.addControllers("controllers", { dialect, switches: {}, bugs: bugsOn() });
  controllers.crash();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } };
  expect(ask({ method: "POST", path: "/api/v1/namespaces", body: namespace })).toMatchObject({ status: 201 });
  ask({ method: "DELETE", path: "/api/v1/namespaces/n" }, 30);
  expect(ask({ method: "GET", path: "/api/v1/namespaces/n" })).toMatchObject({ status: 200 });
  controllers.start();
  expect(ask({ method: "GET", path: "/api/v1/namespaces/n" }, 30)).toMatchObject({ status: 200 });
  expect(ask({ method: "GET", path: "/api/v1/namespaces/n" })).toMatchObject({ status: 404 });
});

it("has several servers on one store, each under its own name", () => {
  const { kernel, cluster, ask } = newCluster();
  cluster.addServer("apiserver-2", () => ({ tokens, controllers: noControllers }));
  ask({ method: "POST", path: configMaps, body: named("shared") });
  const client = cluster.add(
    "other",
    (process) => new ApiClient(process, cluster.api(process, "apiserver-2"), "admin"),
  );
  let status = 0;
  kernel.enter(client.process, () =>
    client.made.call({ method: "GET", path: `${configMaps}/shared` }, 1_000_000, (answer) => {
      status = answer.ok ? answer.status : 0;
    }),
  );
  kernel.run(kernel.nowMicros() + 1_000_000);
  expect(status).toBe(200);
  expect([...cluster.members.keys()]).toEqual(["apiserver", "user", "apiserver-2", "other"]);
});

it("refuses two members of one name, and clients of a server that is not there", () => {
  const { cluster, user } = newCluster();
  expect(() => cluster.add("user", () => 0)).toThrow("each member of a cluster has a name of its own");
  expect(() => cluster.api(user.process, "elsewhere")).toThrow("a server that the cluster does not have");
});
