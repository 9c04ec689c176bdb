/** A simulated server in the state that the recorded one was in: fresh, no controllers, default roles only. */
import { noControllers } from "../control/controllers.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { Cluster } from "../cluster/cluster.ts";
import type { ApiRequest, Responder } from "../contract/http-message.ts";
import { profiles } from "../contract/profile.ts";
import type { Topic } from "./exchanges.ts";
import type { ReplayTarget } from "./replay.ts";

export function recordedTarget({ topic, profile: name, gates, historyMillis }: Topic): ReplayTarget {
  const profile = profiles[name];
  const kernel = new Kernel({ seed: `recorded ${topic}` });
  const { process, made: server } = new Cluster({ kernel }).addServer("apiserver", () => ({
    profile,
    featureGates: Object.fromEntries(gates.map((gate) => [gate, true])),
    historyWindowMicros: historyMillis * 1_000,
    tokens: [
      { token: "admintoken", user: "admin", uid: "admin", groups: ["system:masters"] },
      { token: "usertoken", user: "alice", uid: "alice-uid", groups: ["devs"] },
    ],
    authorizationModes: ["RBAC"],
    audiences: ["https://issuer.test"],
    controllers: noControllers,
  }));
  kernel.run(historyMillis * 3_000); // the recorded server had been up for long: its first versions were gone
  return {
    dialect: profile.dialect,
    server: {
      start(request, responder) {
        const adapter = compressing(server, request, responder);
        const cancel = kernel.enter(process, () => server.start(request, adapter));
        return () => kernel.enter(process, cancel);
      },
    },
    advance(millis) {
      kernel.run(kernel.nowMicros() + millis * 1_000);
    },
  };
}

/** Says what an adapter that has a socket would compress. The bytes stay as they are: nobody compares them. */
function compressing(server: ApiServer, request: ApiRequest, responder: Responder): Responder {
  return {
    respond(status, headers, payload) {
      const compressed = server.packingOf(request, status, payload.bytes().length);
      const all = compressed ? { ...headers, "content-encoding": "gzip", vary: "Accept-Encoding" } : headers;
      responder.respond(status, all, payload);
    },
    open: (status, headers) => responder.open(status, headers),
    frame: (payload) => responder.frame(payload),
    close: () => responder.close(),
  };
}
