import { describe, expect, it } from "vitest";
import type { ChaosPlan } from "../../scenarios/chaos.ts";
import { parseChaos } from "../../scenarios/load.ts";
import type { ApiRequest, JsonObject, Responder } from "../contract/http-message.ts";
import { objectPayload } from "../contract/plain-payload.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Cancel } from "../kernel/types.ts";
import { Chaos, type ChaosDeed } from "./chaos.ts";
import { ChaosExchange } from "./chaos-exchange.ts";

const pods = "/api/v1/namespaces/default/pods";
const plan = (...rows: string[]): ChaosPlan =>
  parseChaos(`apiVersion: chaos/v1\nname: x\nfaults:\n${rows.map((row) => `  - { ${row} }`).join("\n")}`, "x.yaml");

/** A server that answers at once, and whose watches are told of `a` after a second. */
class World {
  readonly kernel = new Kernel({ seed: "1" });
  readonly log: string[] = [];
  readonly deeds: ChaosDeed[] = [];
  readonly lags: number[] = [];
  served = 0;
  private readonly process = this.kernel.process("server");
  private readonly chaos: Chaos;

  constructor(chaosPlan: ChaosPlan, seed = "1") {
    this.chaos = this.kernel.enter(
      this.process,
      () =>
        new Chaos({
          plan: chaosPlan,
          seed,
          process: this.process,
          server: this.serverCalled("fresh"),
          stale: () => ({ handler: this.serverCalled("stale"), setLag: (micros) => this.lags.push(micros) }),
          did: (deed) => this.deeds.push(deed),
        }),
    );
  }

  ask(method: string, path: string, query = "", agent = "kubectl/v1"): Cancel {
    const request: ApiRequest = { method, path, query, headers: { "user-agent": agent } };
    return this.kernel.enter(this.process, () => this.chaos.start(request, this.client()));
  }

  until(seconds: number): this {
    this.kernel.run(seconds * 1_000_000);
    return this;
  }

  private serverCalled(name: string) {
    return {
      start: ({ query }: ApiRequest, responder: Responder): Cancel => {
        this.served++;
        if (!query.includes("watch=1")) {
          responder.respond(200, {}, objectPayload({ from: name }));
          return () => {};
        }
        responder.open(200, {
          "content-type": query.includes("protobuf") ? "application/x.protobuf" : "application/json",
        });
        const stop = this.process.clock.after(1_000_000, () => void responder.frame(objectPayload({ type: "ADDED" })));
        return () => {
          this.log.push("server: gone");
          stop();
        };
      },
    };
  }

  private client(): Responder {
    const say = (text: string): void => void this.log.push(`${this.kernel.nowMicros() / 1e6} ${text}`);
    return {
      respond: (status, headers, { object }) =>
        say(
          `${status} ${String(object?.["from"] ?? object?.["reason"])} ${String(headers["retry-after"] ?? "")}`.trimEnd(),
        ),
      open: (status) => say(`opens ${status}`),
      frame: (payload) => {
        const { type, object } = (payload.object ?? {}) as { type?: string; object?: JsonObject };
        say(
          type === undefined
            ? `${payload.bytes().length} bytes`
            : `${type} ${String(object?.["code"] ?? "")}`.trimEnd(),
        );
        return 0;
      },
      close: () => say("closes"),
      failed: (failure) => say(failure),
    };
  }
}

let world: World;
const play = (...rows: string[]): void => {
  world = new World(plan(...rows));
};

describe("chaos", () => {
  it("answers late, and each event of a watch", () => {
    play("late: 2s");
    world.ask("GET", pods);
    world.ask("GET", pods, "watch=1");
    expect(world.until(10).log).toEqual(["2 200 fresh", "2 opens 200", "3 ADDED"]);
  });

  it.each([
    ["request", ["0 disconnected"], 0],
    ["answer", ["0 disconnected"], 1],
    ["half", ["0 opens 200", "0 8 bytes", "0 disconnected"], 1],
  ])("cuts the %s", (where, log, served) => {
    play(`cut: ${where}`);
    world.ask("POST", pods);
    expect(world.until(1).log).toEqual(log);
    expect(world.served).toBe(served);
  });

  it("makes no more of a large answer than the slice that it cuts", () => {
    let slicesMade = 0;
    const slices = function* () {
      for (const bytes of [0, 100, 100, 100]) {
        slicesMade++;
        yield new Uint8Array(bytes);
      }
    };
    const whole = () => {
      throw new Error("nobody may ask for all of it");
    };
    const told: number[] = [];
    const exchange = new ChaosExchange(
      new Kernel({ seed: "1" }).process("server").clock,
      {
        respond: () => told.push(-1),
        open: () => {},
        frame: (payload) => told.push(payload.bytes().length),
        close: () => told.push(-2),
        failed: () => told.push(0),
      },
      { lateMicros: 0, cut: "half", ends: [] },
      () => {},
      () => {},
    );
    exchange.respond(200, {}, { object: undefined, contentType: "application/json", bytes: whole, slices });
    expect({ told, slicesMade }).toEqual({ told: [50, 0], slicesMade: 2 });
  });

  it("ends and cuts watches after a while, and the server hears of it", () => {
    play("endWatch: 1500ms, where: { agents: [one] }", "cutWatch: 500ms, where: { agents: [two] }");
    world.ask("GET", pods, "watch=1", "one/v1");
    world.ask("GET", pods, "watch=1", "two/v1");
    expect(world.until(5).log).toEqual([
      "0 opens 200",
      "0 opens 200",
      "server: gone",
      "0.5 disconnected",
      "1 ADDED",
      "server: gone",
      "1.5 closes",
    ]);
  });

  it("refuses with 409, 429 and 410 what these are for, and nothing else", () => {
    play("conflict: true, where: { resources: [pods] }", "throttle: 3s, where: { verbs: [list] }", "expire: true");
    for (const method of ["PUT", "GET"]) world.ask(method, `${pods}/a`);
    world.ask("PUT", "/api/v1/namespaces/default/secrets/a");
    world.ask("GET", pods);
    for (const version of ["", "0", "7"]) world.ask("GET", pods, `watch=1&resourceVersion=${version}`);
    expect(world.log).toEqual([
      "0 409 Conflict",
      "0 200 fresh",
      "0 200 fresh",
      "0 429 TooManyRequests 3",
      "0 opens 200",
      "0 opens 200",
      "0 410 Expired",
    ]);
    expect(world.deeds.map(({ row, did, verb }) => `${row} ${verb} ${did}`)).toEqual([
      "1 update 409",
      "2 list 429, again after 3 s",
      "3 watch 410 for version 7",
    ]);
  });

  it("comes in storms: open watches are told 410, or are told at their next request when they read no JSON", () => {
    play("expire: true, every: 10s");
    world.ask("GET", pods, "watch=1", "one/v1");
    world.ask("GET", `${pods}`, "watch=1&protobuf", "two/v1");
    world.until(11);
    expect(world.log.filter((line) => line.startsWith("10 "))).toEqual(["10 ERROR 410", "10 closes", "10 closes"]);
    world.ask("GET", pods, "watch=1&resourceVersion=5", "two/v1");
    world.ask("GET", pods, "watch=1&resourceVersion=5", "two/v1");
    expect(world.log.slice(-2)).toEqual(["11 410 Expired", "11 opens 200"]);
  });

  it("keeps to its times", () => {
    play("throttle: 1s, from: 2s, to: 4s", "late: 1s, every: 10s, for: 3s");
    for (const second of [1, 3, 5, 9, 11, 14]) world.until(second).ask("GET", pods);
    world.until(20);
    expect(world.log).toEqual([
      "1 200 fresh",
      "3 429 TooManyRequests 1",
      "5 200 fresh",
      "9 200 fresh",
      "12 200 fresh",
      "14 200 fresh",
    ]);
  });

  it("sends some to a front-end that lags, and lets it catch up when the time is over", () => {
    play("stale: 5s, to: 4s");
    world.ask("GET", pods);
    world.until(5).ask("GET", pods);
    expect([world.log, world.lags]).toEqual([
      ["0 200 stale", "5 200 fresh"],
      [5_000_000, 0],
    ]);
  });

  it("leaves alone what is about no resource", () => {
    play("throttle: 1s", "cut: answer");
    for (const path of ["/readyz", "/api/v1", "/version", "/openapi/v2"]) world.ask("GET", path);
    expect(world.log).toEqual(Array(4).fill("0 200 fresh"));
  });

  it("leaves a path that cannot be read to the server", () => {
    const world = new World(plan("throttle: 1s"));
    world.ask("GET", "/api/v1/pods/%zz");
    world.ask("GET", "/api/v1".padEnd(10_000, "/"));
    expect([world.until(10).served, world.deeds]).toEqual([2, []]);
  });

  it("decides by the seed and by what is asked, and not by what others ask in between", () => {
    const rows = ["throttle: 1s..9s, rate: 1/3", "late: 1ms..1s, rate: 1/2"];
    const played = (seed: string, others: number): readonly string[] => {
      const one = new World(plan(...rows), seed);
      for (let n = 0; n < 40; n++) {
        one.ask("GET", pods);
        for (let other = 0; other < others; other++) one.ask("POST", pods, "", "helm/v3");
      }
      return one.deeds.filter(({ agent }) => agent === "kubectl/v1").map(({ did, request }) => `${request} ${did}`);
    };
    expect(played("1", 0)).toEqual(played("1", 3));
    expect(played("1", 0)).not.toEqual(played("2", 0));
    expect(played("1", 0).length).toBeGreaterThan(15);
    expect(played("1", 0).length).toBeLessThan(60);
  });
});
