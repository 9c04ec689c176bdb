import { describe, expect, it } from "vitest";
import type { ApiRequest, JsonObject, Responder, TunnelTarget } from "../../contract/http-message.ts";
import type { CriAnswer } from "../../../wire/cri.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { AgentWorld, type WorldMore } from "../agent-world.fixture.ts";
import { AgentListener, type AgentListenerOptions, RequestCounts } from "./agent-listener.ts";

const box = { containers: [{ name: "c", image: "serves:1", imagePullPolicy: "IfNotPresent" }] };

function listening(world: AgentWorld, more: Partial<AgentListenerOptions> = {}) {
  const { view } = world.agent;
  const listener = new AgentListener({
    kind: "serving",
    agent: view,
    node: { summary: (_only, done) => done({ node: {}, pods: [] }), readings: (done) => done(undefined, []) },
    configz: () => ({ kubeletconfig: {} }),
    hasDebugging: true,
    idleMillisMax: 0,
    syncFrequencyMicros: 60_000_000,
    counts: new RequestCounts(),
    ...more,
  });
  return (path: string, request: Partial<ApiRequest> = {}) => {
    const seen = { status: 0, text: "", frames: 0, tunnel: undefined as TunnelTarget | undefined };
    const responder: Responder = {
      respond(status, _headers, payload) {
        seen.status = status;
        seen.text = new TextDecoder().decode(payload.bytes());
      },
      open: (status) => void (seen.status = status),
      frame(payload) {
        seen.text += new TextDecoder().decode(payload.bytes());
        seen.frames++;
        return 2 << 20;
      },
      whenTaken: (resume) => void view.process.clock.after(1, resume),
      close: () => {},
      tunnel(to) {
        seen.tunnel = to;
        return () => {};
      },
    };
    const [plain = "", query = ""] = path.split("?");
    const whole = { method: "GET", path: plain, query, headers: {}, ...request };
    world.enter(() => listener.start(whole, responder));
    world.run(1);
    return seen;
  };
}

/** Streams at an address of its own. */
const streaming = (inner: CriRuntime): CriRuntime => ({
  start(request, done, fail) {
    if (!["Exec", "Attach", "PortForward"].includes(request.method)) return inner.start(request, done, fail);
    done({ ok: true, message: { url: "http://127.0.0.1:1/stream" } } as CriAnswer);
    return () => {};
  },
  events: (reader, sink) => inner.events(reader, sink),
});

function running(more: WorldMore = {}): AgentWorld {
  const world = new AgentWorld({}, undefined, more);
  world.runtime.images.set("serves:1", { stopsAfterMicros: 500_000 });
  world.create("p", box);
  world.run(10);
  return world;
}

describe("an agent's listeners", () => {
  it("count methods that a client has made up as one, and follow no path without an end", () => {
    const counts = new RequestCounts();
    const get = listening(running(), { counts });
    for (let at = 0; at < 1_000; at++) get("/pods", { method: `M${at}` });
    expect([...counts.rows.values()].map(({ labels, count }) => [labels["method"], count])).toEqual([["other", 1_000]]);
    expect(get(`/logs${"/".repeat(1_000)}`).status).toBe(404);
    expect(get("/pods").status).toBe(200);
  });

  it("send a file of the machine's log in parts where no single read brings it whole", () => {
    const whole = Array.from({ length: 10 }, (_, at) => String(at).repeat(1_000)).join("");
    const around = (inner: CriRuntime): CriRuntime => ({
      start(request, done, fail) {
        if (request.method !== "ReadPath") return inner.start(request, done, fail);
        const { offset = 0 } = request.message as { offset?: number };
        const content = new TextEncoder().encode(whole.slice(offset, offset + 3_000));
        done({ ok: true, message: { size: 9_500, content, file: 1 } } as CriAnswer);
        return () => {};
      },
      events: (reader, sink) => inner.events(reader, sink),
    });
    const get = listening(running({ around }));
    expect(get("/logs/a.log")).toMatchObject({ status: 200, text: whole.slice(0, 9_500), frames: 4 });
    expect(get("/logs/a.log", { method: "HEAD" })).toMatchObject({ status: 200, text: "", frames: 0 });
  });

  it("show the pods it is to run, and those that run", () => {
    const get = listening(running());
    const { items } = JSON.parse(get("/pods").text) as { items: JsonObject[] };
    expect(items).toMatchObject([{ kind: "Pod", metadata: { name: "p" }, status: { phase: "Running" } }]);
    expect(JSON.parse(get("/runningpods/").text)).toMatchObject({
      items: [{ metadata: { name: "p", namespace: "default" }, spec: { containers: [{ name: "c" }] } }],
    });
    expect(get("/metrics").text).toContain("kubelet_running_pods 1");
  });

  it("keep commands and logs from those who only read, and from everybody where debugging is off", () => {
    const world = running();
    const disabled = { status: 405, text: "Debug endpoints are disabled.\n" };
    for (const more of [{ kind: "readOnly" as const }, { hasDebugging: false }]) {
      const get = listening(world, more);
      for (const path of ["/exec/default/p/c", "/attach/default/p/c", "/portForward/default/p", "/runningpods/"]) {
        expect(get(path)).toMatchObject(disabled);
      }
      expect(get("/debug/pprof/block")).toMatchObject(disabled);
      for (const path of ["/run/default/p/c", "/containerLogs/default/p/c", "/logs/"]) {
        expect(get(path, { method: "POST" })).toMatchObject(disabled);
      }
      expect(get("/configz").status).toBe(404);
      expect(get("/pods").status).toBe(200);
    }
    const health = listening(world, { kind: "health" });
    expect([health("/healthz").text, health("/pods").status]).toEqual(["ok", 404]);
  });

  it("tell of the agent as a program, where there is one and the file leaves it on", () => {
    const texts = { block: () => "late" };
    const on = listening(running(), { profiles: { isOn: true, texts } });
    expect(on("/debug/pprof/").text).toContain('<a href="block?debug=1">block</a>');
    expect(on("/debug/pprof/block?debug=1")).toMatchObject({ status: 200, text: "late" });
    for (const path of ["/debug/pprof/none", "/debug/pprof/__proto__", "/debug/pprof/block/x", "/debug/other"]) {
      expect([path, on(path).status]).toEqual([path, 404]);
    }
    expect(listening(running(), { profiles: { isOn: false, texts } })("/debug/pprof/block")).toMatchObject({
      status: 405,
      text: "profiling endpoint is disabled.\n",
    });
    expect(listening(running())("/debug/pprof/block").status).toBe(404);
  });

  it("refuse what is not there, and what makes no sense", () => {
    const get = listening(running());
    const upgrade = { headers: { upgrade: "SPDY/3.1", connection: "Upgrade" } };
    expect(get("/none").status).toBe(404);
    expect(get("/pods/%zz").status).toBe(404);
    expect(get("/__proto__").status).toBe(404);
    expect(get("/exec/default/other/c?command=sh&output=1", upgrade).status).toBe(404);
    expect(get("/exec/default/p/other?command=sh&output=1", upgrade).status).toBe(404);
    expect(get("/exec/default/p/c?command=sh&output=1").status).toBe(400);
    expect(get("/exec/default/p/c?command=sh", upgrade).status).toBe(400);
    expect(get("/containerLogs/default/p/c?tailLines=x").status).toBe(400);
    expect(get("/containerLogs/default/p/c?tailLines=-1").status).toBe(422);
    expect(get("/containerLogs/default/p/other").status).toBe(404);
    expect(get("/pods", { method: "DELETE" }).status).toBe(405);
  });

  it("hand streams on with the idle limit of the flag, and an end after four hours", () => {
    const upgrade = { headers: { upgrade: "SPDY/3.1", connection: "Upgrade" } };
    for (const idleMillisMax of [0, 90_000]) {
      const get = listening(running({ around: streaming }), { idleMillisMax });
      for (const path of [
        "/exec/default/p/c?command=sh&output=1",
        "/attach/default/p/c?output=1",
        "/portForward/default/p",
      ]) {
        expect(get(path, upgrade).tunnel).toMatchObject({ idleMillisMax, millisMax: 14_400_000 });
      }
    }
  });

  it("is not well when the runtime has not been listed for long", () => {
    const world = running();
    const get = listening(world);
    expect(get("/healthz")).toMatchObject({ status: 200, text: "ok" });
    const late = listening(world, { agent: { ...world.agent.view, lastLookMicros: () => -400_000_000 } });
    expect(late("/healthz")).toMatchObject({ status: 500 });
    expect(late("/healthz/ping")).toMatchObject({ status: 200 });
  });
});
