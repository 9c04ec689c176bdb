import { describe, expect, it } from "vitest";
import { jumpingClock, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { busyMillis, Client, LostAnswer } from "./client.ts";
import { curlLine } from "./exchange.ts";
import { Recorder } from "./recorder.ts";

function clientOf(script: Parameters<typeof scriptedTransport>[0]) {
  const clock = jumpingClock();
  const transport = scriptedTransport(script);
  const recorder = new Recorder(clock);
  return { clock, transport, recorder, client: new Client(transport, clock, recorder, "touchstone/1 (test)") };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("Client", () => {
  it("records what was sent and answered, in one order of sendings and answers", async () => {
    const { client, recorder } = clientOf((request) => ({ status: 200, json: { path: request.path } }));
    const [one, two] = await Promise.all([client.request("GET", "/one"), client.request("GET", "/two")]);
    expect([one.json, two.json]).toEqual([{ path: "/one" }, { path: "/two" }]);
    const places = recorder.records({ address: "$SERVER", flags: [] }).map(({ began, ended }) => [began, ended]);
    expect(places).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it("sends the headers it is given before its own, and keeps the body as it came", async () => {
    const packed = Uint8Array.of(0x1f, 0x8b, 0xff);
    const { client, transport } = clientOf(() => (sink) => {
      sink.head(200, { "content-encoding": "gzip" });
      sink.chunk(packed.subarray(0, 1));
      sink.chunk(packed.subarray(1));
      sink.end();
    });
    const headers = { "accept-encoding": "gzip", "user-agent": "curl/8" };
    expect((await client.request("GET", "/", { headers })).bytes).toEqual(packed);
    expect(transport.requests[0]?.headers).toEqual({ accept: "application/json", ...headers });
  });

  it("gives up a request that is not answered in time, as a lost answer", async () => {
    const { client, clock, recorder } = clientOf(() => () => {});
    const result = await client.attempt("GET", "/", { timeoutMillis: 500 });
    expect(result).toBeInstanceOf(LostAnswer);
    expect(clock.nowMillis()).toBe(500);
    expect(recorder.last()?.lost).toContain("500 ms");
  });

  it("knows nothing of a request after it has gone away, even if it is answered", async () => {
    const { client } = clientOf(() => ({ status: 201 }));
    expect(await client.attempt("POST", "/", { cutAfterSending: true })).toBeInstanceOf(LostAnswer);
  });

  it("waits as Retry-After says, but not for ever, and not where 429 is an answer", async () => {
    const busy = () => ({ status: 429, headers: { "retry-after": "7" } });
    const patient = clientOf(busy);
    const lost = await patient.client.attempt("GET", "/"); // the limit is never taken for the answer
    expect(lost).toBeInstanceOf(LostAnswer);
    expect((lost as LostAnswer).message).toContain("too busy: 429, after 56 s");
    expect(patient.transport.requests.length).toBe(9); // at once, and after each of eight waits within a minute
    for (const [isBusy, count] of [
      [() => false, 1],
      [() => true, 9],
    ] as const) {
      const { client, transport } = clientOf(busy);
      await client.attempt("GET", "/", { retryTooMany: isBusy });
      expect(transport.requests.length).toBe(count);
    }
    const blunt = clientOf(busy);
    expect((await blunt.client.request("GET", "/", { retryTooMany: false })).status).toBe(429);
    expect(blunt.transport.requests.length).toBe(1);
  });
});

describe("an answer that is none", () => {
  const date = "Sat, 21 Nov 2026 23:00:00 GMT";
  it.each([
    [429, {}, 1000],
    [429, { "retry-after": "0" }, 1000],
    [429, { "retry-after": "Sat, 21 Nov 2026 23:00:05 GMT", date }, 5000],
    [429, { "retry-after": "soon" }, 1000],
    [503, { "retry-after": "2" }, 2000],
    [503, {}, undefined],
    [504, { "retry-after": "2" }, undefined],
    [200, { "retry-after": "2" }, undefined],
  ])("%i with %j is asked again after %j ms", (status, headers, millis) => {
    expect(busyMillis({ status, headers: headers as Record<string, string> })).toBe(millis);
  });

  it("is a gateway's: what was asked may have been done", async () => {
    const html = { "content-type": "text/html; charset=utf-8" };
    const { client } = clientOf(() => ({ status: 502, headers: html }));
    const lost = await client.attempt("POST", "/");
    expect((lost as LostAnswer).message).toContain("a gateway answered 502, in HTML");
    for (const answer of [{ status: 502 }, { status: 500, headers: html }]) {
      expect((await clientOf(() => answer).client.request("GET", "/")).status).toBe(answer.status);
    }
  });
});

describe("a read that meets nobody", () => {
  const html = { "content-type": "text/html" };

  it.each([
    ["a gateway's 502", { status: 502, headers: html }],
    ["a gateway's 504", { status: 504, headers: html }],
    ["a 503 that names no time", { status: 503, json: { kind: "Status" } }],
  ])("is asked again after %s, and every try is in the history", async (_what, away) => {
    let count = 0;
    const { client, clock, recorder } = clientOf(() => ((count += 1) <= 3 ? away : { status: 200, json: {} }));
    expect((await client.request("GET", "/")).status).toBe(200);
    expect(clock.nowMillis()).toBe(7000); // after 1, 2 and 4 s
    const history = recorder.records({ address: "$SERVER", flags: [] });
    expect(history.map(({ status }) => status)).toEqual([away.status, away.status, away.status, 200]);
  });

  it("is not asked for ever: then nothing was heard of a gateway, and a 503 of the target's own is its answer", async () => {
    const behind = clientOf(() => ({ status: 503, headers: html }));
    expect(await behind.client.attempt("GET", "/")).toBeInstanceOf(LostAnswer);
    const own = clientOf(() => ({ status: 503 }));
    expect((await own.client.request("GET", "/")).status).toBe(503);
    expect([behind.transport.requests.length, own.transport.requests.length]).toEqual([4, 4]);
  });

  it("is never a write: that may have been done", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { client, transport } = clientOf(() => ({ status: 503, headers: html }));
      expect(await client.attempt(method, "/")).toBeInstanceOf(LostAnswer);
      expect(transport.requests.length).toBe(1);
    }
  });
});

describe("a run that is stopped", () => {
  it("ends the longest wait at once, and sends nothing more", async () => {
    const stop = new AbortController();
    const clock = { ...jumpingClock(), after: () => () => {} }; // time that never passes
    const transport = scriptedTransport(() => ({ status: 429, headers: { "retry-after": "30" } }));
    const client = new Client(transport, clock, new Recorder(clock), "test", stop.signal);
    const asked = client.attempt("GET", "/");
    setImmediate(() => setImmediate(() => stop.abort()));
    await expect(asked).rejects.toThrow("stopped by a person");
    expect(transport.requests.length).toBe(1);
    await expect(client.pause(1)).rejects.toThrow("stopped by a person");
  });
});

describe("WatchStream", () => {
  it("keeps events in order, and wakes whoever waits for them", async () => {
    const { client } = clientOf(() => (sink) => {
      sink.head(200, {});
      sink.chunk(bytes('{"type":"ADDED","object":{}}{"type":"MODI'));
      setImmediate(() => sink.chunk(bytes('FIED","object":{}}\n')));
    });
    const watch = client.watch("/pods", { resourceVersion: "1" });
    expect(watch.exchange.request.path).toBe("/pods?watch=true&resourceVersion=1");
    expect(await watch.until(() => watch.events.length === 2)).toBe(true);
    expect(watch.events.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED"]);
    const { arrivals } = watch.exchange.record({ address: "$SERVER", flags: [] });
    expect(arrivals?.map(({ place }) => place)).toEqual([2, 3]); // the request was at 1
    expect(await watch.until(() => watch.events.length === 3, 1000)).toBe(false); // time was up
  });

  it("shows a stream that ends inside a document, or holds what is no event, as malformed", async () => {
    for (const text of ['{"type":"ADDED"', '{"no":"event"}', "[]", '{"type":"ADDED","object":}']) {
      const { client } = clientOf(() => (sink) => {
        sink.head(200, {});
        sink.chunk(bytes(text));
        sink.end();
      });
      const watch = client.watch("/pods", {});
      await watch.untilEnded(1000);
      expect(watch.events.map(({ type }) => type)).toEqual(["malformed"]);
    }
  });

  it("does not hold a broken connection against the document it cut", async () => {
    const { client } = clientOf(() => (sink) => {
      sink.head(200, {});
      sink.chunk(bytes('{"type":"ADDED"'));
      sink.failed(new Error("reset"));
    });
    const watch = client.watch("/pods", {});
    await watch.untilEnded(1000);
    expect([watch.ended, watch.events.length]).toEqual(["broken", 0]);
  });

  it("keeps the body of a refusal", async () => {
    const { client } = clientOf(() => ({ status: 410, json: { reason: "Expired" } }));
    const watch = client.watch("/pods", {});
    expect(await watch.opened()).toBe(410);
    await watch.untilEnded(1000);
    expect(watch.refusal()).toEqual({ reason: "Expired" });
  });
});

describe("curlLine", () => {
  it("quotes what a shell would read otherwise, and leaves the address to be filled in", () => {
    const request = {
      method: "POST",
      path: "/api/v1/pods?labelSelector=a%20in%20(b)&limit=1",
      headers: { "user-agent": "x", "content-type": "application/json" },
      body: `{"it's":1}`,
    };
    expect(curlLine(request, { address: "$SERVER", flags: ["-k"] })).toBe(
      `curl -sS -k -X POST -H 'content-type: application/json' --data-binary '{"it'\\''s":1}' $SERVER'/api/v1/pods?labelSelector=a%20in%20(b)&limit=1'`,
    );
    const mine = { address: "http://h", credentials: ['-H "Authorization: Bearer $TOKEN"'], flags: ["-k"] };
    const asked = { method: "GET", path: "/", headers: {} };
    expect(curlLine({ ...asked, as: "nobody" }, mine)).toBe("curl -sS -k http://h/");
    expect(curlLine({ ...asked, as: { token: "other" } }, mine)).toBe(
      'curl -sS -k -H "Authorization: Bearer $OTHER_TOKEN" http://h/',
    );
    expect(curlLine(asked, mine)).toBe('curl -sS -H "Authorization: Bearer $TOKEN" -k http://h/');
    const acting = { ...mine, acting: ["-H 'impersonate-user: $alice'"] };
    expect(curlLine(asked, acting)).toBe(
      `curl -sS -H "Authorization: Bearer $TOKEN" -H 'impersonate-user: $alice' -k http://h/`,
    );
    expect(curlLine({ ...asked, as: "nobody" }, acting)).toBe("curl -sS -k http://h/");
    expect(curlLine({ ...asked, headers: { "impersonate-user": "jane" } }, acting)).toBe(
      `curl -sS -H "Authorization: Bearer $TOKEN" -k -H 'impersonate-user: jane' http://h/`,
    );
    const watch = { method: "GET", path: "/api/v1/pods?watch=true", headers: {} };
    expect(curlLine(watch, { address: "http://h", flags: [] })).toBe("curl -sSN http://h'/api/v1/pods?watch=true'");
  });
});
