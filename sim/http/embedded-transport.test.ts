import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Reader, SuiteClock, Transport, WireResponse } from "../../wire/ports.ts";
import type { ApiHandler, ApiRequest, Payload, Responder } from "../contract/http-message.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { runVirtual } from "../kernel/virtual-driver.ts";
import { type EmbeddedOptions, embeddedTransport, virtualClock } from "./embedded-transport.ts";

const text = (value: string): Payload => ({
  object: undefined,
  contentType: "text/plain",
  bytes: () => Buffer.from(value),
});

/** `/now` answers at once, `/later` after a virtual second, `/watch` sends a tick every second. */
class Desk implements ApiHandler {
  readonly log: string[] = [];
  readonly #process: Process;

  constructor(process: Process) {
    this.#process = process;
  }

  start(request: ApiRequest, responder: Responder): () => void {
    const { clock } = this.#process;
    this.log.push(`${clock.nowMicros()} ${request.method} ${request.path}`);
    if (request.path === "/later") return clock.after(1_000_000, () => responder.respond(200, {}, text("later")));
    if (request.path !== "/watch") {
      const body = request.body instanceof Uint8Array ? Buffer.from(request.body).toString() : "";
      responder.respond(200, { "x-seen": request.headers["x-who"] ?? "" }, text(`${request.query}|${body}`));
      return () => {};
    }
    responder.open(200, { "content-type": "application/json" });
    let stop = (): void => {};
    const tick = (count: number): void => {
      stop = clock.after(1_000_000, () => {
        responder.frame(text(`${count}`));
        if (count === 3) responder.close();
        else tick(count + 1);
      });
    };
    tick(1);
    return () => {
      this.log.push(`${clock.nowMicros()} cut`);
      stop();
    };
  }
}

interface Stage {
  readonly desk: Desk;
  readonly transport: Transport;
  readonly clock: SuiteClock;
  readonly kernel: Kernel;
}

function onStage<T>(
  options: Partial<EmbeddedOptions> & { seed?: string },
  act: (stage: Stage) => Promise<T>,
): Promise<T> {
  const kernel = new Kernel({ seed: options.seed ?? "1" });
  const client = kernel.process("suite");
  const desk = new Desk(kernel.process("server"));
  return runVirtual(kernel, (driver) =>
    act({
      desk,
      kernel,
      transport: embeddedTransport({ driver, handler: desk, client, ...options }),
      clock: virtualClock(client),
    }),
  );
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly chunks: readonly string[];
}

function ask(transport: Transport, method: string, path: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers = {};
    const chunks: string[] = [];
    transport.open(
      { method, path, headers: {}, ...(body === undefined ? {} : { body }) },
      {
        head: (code, values) => {
          status = code;
          headers = values;
        },
        chunk: (bytes) => chunks.push(Buffer.from(bytes).toString()),
        end: () => resolve({ status, headers, chunks }),
        failed: reject,
      },
    );
  });
}

describe("embedded transport", () => {
  it("packs what it is told to, and nothing else", async () => {
    const compress = (request: ApiRequest) => request.headers["accept-encoding"] === "gzip";
    await onStage({ compress }, async ({ transport }) => {
      const ask = (headers: Record<string, string>) =>
        new Promise<[WireResponse["headers"], Uint8Array]>((resolve, reject) => {
          let head: WireResponse["headers"] = {};
          transport.open(
            { method: "GET", path: "/now?a", headers },
            {
              head: (_status, sent) => (head = sent),
              chunk: (bytes) => resolve([head, bytes]),
              end() {},
              failed: reject,
            },
          );
        });
      const [packed, bytes] = await ask({ "accept-encoding": "gzip" });
      expect(packed).toMatchObject({ "content-encoding": "gzip", "content-length": String(bytes.length) });
      expect(gunzipSync(bytes).toString()).toBe("a|");
      expect((await ask({}))[0]["content-encoding"]).toBeUndefined();
    });
  });

  it("adds its credentials to the run's own requests alone", () =>
    onStage({ headers: { authorization: "Bearer own", "x-who": "suite" } }, async ({ desk, transport }) => {
      const seen: (string | undefined)[] = [];
      const start = desk.start.bind(desk);
      desk.start = (request, responder) => {
        seen.push(request.headers["authorization"]);
        return start(request, responder);
      };
      const askAs = (as: Parameters<Transport["open"]>[0]["as"]) =>
        new Promise<void>((end, failed) => {
          const request = { method: "GET", path: "/now", headers: {}, ...(as === undefined ? {} : { as }) };
          transport.open(request, { head() {}, chunk() {}, end, failed });
        });
      for (const as of [undefined, { token: "other" }, "nobody"] as const) await askAs(as);
      expect(seen).toEqual(["Bearer own", "Bearer other", undefined]);
    }));

  it("resolves a request that needs no waiting without a macrotask turn", () =>
    onStage({ headers: { "x-who": "suite" } }, async ({ transport }) => {
      let turned = false;
      setImmediate(() => {
        turned = true;
      });
      const answer = await ask(transport, "POST", "/now?a=b", "body");
      expect(turned).toBe(false);
      expect(answer).toEqual({
        status: 200,
        headers: { "content-type": "text/plain", "content-length": "8", "x-seen": "suite" },
        chunks: ["a=b|body"],
      });
    }));

  it("never calls the sink before open has returned", () =>
    onStage({}, async ({ transport }) => {
      let opened = false;
      await new Promise<void>((resolve) => {
        transport.open(
          { method: "GET", path: "/now", headers: {} },
          { head: () => expect(opened).toBe(true), chunk: () => {}, end: resolve, failed: () => {} },
        );
        opened = true;
      });
    }));

  it("sends no body with the answer to HEAD", () =>
    onStage({}, async ({ transport }) => {
      const answer = await ask(transport, "HEAD", "/now?a");
      expect(answer.chunks).toEqual([]);
      expect(answer.headers["content-length"]).toBe("2");
    }));

  it("moves time only as far as somebody waits", () =>
    onStage({}, async ({ transport, clock, kernel }) => {
      const began = clock.nowMillis();
      await ask(transport, "GET", "/later");
      expect(clock.nowMillis() - began).toBe(1000);
      await clock.sleep(0.5);
      expect(kernel.nowMicros()).toBe(1_000_500);
      const cancel = clock.after(10, () => expect.unreachable("a cancelled timer fired"));
      cancel();
      await clock.sleep(20);
    }));

  it("streams in order, and delivers nothing after a cut", () =>
    onStage({}, async ({ transport, desk, clock }) => {
      expect((await ask(transport, "GET", "/watch")).chunks).toEqual(["1", "2", "3"]);
      const got: string[] = [];
      const cancel = transport.open(
        { method: "GET", path: "/watch", headers: {} },
        {
          head: () => got.push("head"),
          chunk: (bytes) => got.push(Buffer.from(bytes).toString()),
          end: () => got.push("end"),
          failed: () => got.push("failed"),
        },
      );
      await clock.sleep(1500);
      cancel();
      await clock.sleep(5000);
      expect(got).toEqual(["head", "1"]);
      expect(desk.log.at(-1)).toMatch(/ cut$/);
    }));

  it("cuts what is open when it closes", () =>
    onStage({}, async ({ transport, desk }) => {
      transport.open({ method: "GET", path: "/watch", headers: {} }, { head() {}, chunk() {}, end() {}, failed() {} });
      await transport.close();
      expect(desk.log).toEqual(["0 GET /watch", "0 cut"]);
    }));

  it("interleaves concurrent requests by drawn latency, the same way for the same seed", async () => {
    const latencyMicros = { min: 100, max: 10_000 };
    const arrivals = (seed: string): Promise<string[]> =>
      onStage({ seed, latencyMicros }, async ({ transport, desk }) => {
        await Promise.all(["/a", "/b", "/c", "/d", "/e"].map((path) => ask(transport, "GET", path)));
        return desk.log;
      });
    const first = await arrivals("1");
    expect(await arrivals("1")).toEqual(first);
    expect(await arrivals("2")).not.toEqual(first);
    const times = first.map((line) => Number(line.split(" ")[0]));
    expect(new Set(times).size).toBeGreaterThan(1);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(100);
  });

  it("gives the same small program the same latencies, whatever ran before", async () => {
    const arrivals = (warmUp: number): Promise<string[]> =>
      onStage({ latencyMicros: { min: 1, max: 1_000_000 } }, async ({ transport, desk, clock }) => {
        for (let done = 0; done < warmUp; done++) await ask(transport, "GET", `/warm-${done}`);
        const began = clock.nowMillis();
        desk.log.length = 0;
        await Promise.all([1, 2, 3].map((n) => ask(transport, "PUT", `/object-${warmUp}${n}?v=${n}`)));
        const order = desk.log.map((line) => line.slice(-1));
        return [...order, String(clock.nowMillis() - began)];
      });
    expect(await arrivals(7)).toEqual(await arrivals(0));
  });

  it("keeps the order within an exchange however latencies fall, and a cut does not overtake its request", () =>
    onStage({ latencyMicros: { min: 0, max: 3_000_000 } }, async ({ transport, desk, clock }) => {
      expect((await ask(transport, "GET", "/watch")).chunks).toEqual(["1", "2", "3"]);
      desk.log.length = 0;
      transport.open(
        { method: "GET", path: "/watch", headers: {} },
        { head() {}, chunk() {}, end() {}, failed() {} },
      )();
      await clock.sleep(10_000);
      expect(desk.log.map((line) => line.replace(/^\d+ /, ""))).toEqual(["GET /watch", "cut"]);
    }));
});

describe("a reader that stops", () => {
  it("is given nothing meanwhile, and everything in order when it reads again", async () => {
    const heard: string[] = [];
    await onStage({}, async ({ transport, clock }) => {
      let reader: Reader | undefined;
      transport.open(
        { method: "GET", path: "/watch", headers: {}, onReader: (given) => (reader = given) },
        {
          head: (status) => heard.push(`head ${status}`),
          chunk: (bytes) => heard.push(Buffer.from(bytes).toString()),
          end: () => heard.push("end"),
          failed: (cause) => heard.push(cause.message),
        },
      );
      await clock.sleep(1500);
      reader?.pause();
      await clock.sleep(5000);
      heard.push("reads again");
      reader?.resume();
      await clock.sleep(1000);
    });
    expect(heard).toEqual(["head 200", "1", "reads again", "2", "3", "end"]);
  });
});
