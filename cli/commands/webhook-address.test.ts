import { request } from "node:https";
import { afterEach, describe, expect, it, vi } from "vitest";
import { listenForWebhooks } from "../../conformance/client/webhook-listener.ts";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { Gathered } from "../../wire/gathered.ts";
import type { WebhookHost } from "../../wire/ports.ts";
import { hostAndPort } from "../flags/flag-values.ts";

let host: WebhookHost | undefined;
afterEach(() => host?.close());

async function listener(): Promise<WebhookHost> {
  const dayMillis = 86_400_000;
  const now = Date.now();
  const pair = selfSignedCertificate({
    hosts: ["127.0.0.1"],
    notBeforeMillis: now - dayMillis,
    notAfterMillis: now + dayMillis,
  });
  host = await listenForWebhooks({ host: "127.0.0.1", port: 0, ...pair });
  return host;
}

function post({ url, certificate }: WebhookHost, path: string, body: string, method = "POST"): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}`, { method, ca: certificate, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve(`${response.statusCode} ${text}`.trim()));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

describe("listenForWebhooks", () => {
  it("answers reviews at the paths that are listened to, under the certificate it names", async () => {
    const webhooks = await listener();
    const stop = webhooks.answer("/a", (document) => ({ seen: document }));
    expect(await post(webhooks, "/a?timeout=5s", '{"kind":"AdmissionReview"}')).toBe(
      '200 {"seen":{"kind":"AdmissionReview"}}',
    );
    expect(await post(webhooks, "/b", "{}")).toBe("404");
    expect(await post(webhooks, "/a", "", "GET")).toBe("404");
    expect(await post(webhooks, "/a", "{")).toBe("400");
    stop();
    expect(await post(webhooks, "/a", "{}")).toBe("404");
  });

  it("holds a review that comes in pieces of one byte in few buffers, and reads none that is nested very deep", async () => {
    const webhooks = await listener();
    webhooks.answer("/a", (document) => ({ length: (document as string).length }));
    const added = vi.spyOn(Gathered.prototype, "add");
    const text = `"${"a".repeat(3000)}"`;
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const { url, certificate } = webhooks;
      const outgoing = request(`${url}/a`, { method: "POST", ca: certificate, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoing.on("error", reject);
      for (const letter of text) outgoing.write(letter);
      outgoing.end();
    });
    const [gathered] = added.mock.contexts as Gathered[];
    added.mockRestore();
    expect([answered, gathered?.bytes]).toEqual([200, 3002]);
    expect(gathered?.pieces().length).toBeLessThan(5);
    expect(await post(webhooks, "/a", `${"[".repeat(1001)}${"]".repeat(1001)}`)).toBe("400");
  });

  it("trusts nobody who does not know the certificate", async () => {
    const webhooks = await listener();
    const { url } = webhooks;
    await expect(post({ ...webhooks, url, certificate: undefined }, "/a", "{}")).rejects.toThrow(/self.signed/i);
  });
});

describe("--webhook-address", () => {
  const parser = hostAndPort("HOST");

  it.each([
    ["10.0.0.7", { host: "10.0.0.7", port: undefined }],
    ["ci.example.com:8443", { host: "ci.example.com", port: 8443 }],
    ["[::1]:1", { host: "::1", port: 1 }],
  ])("reads %s", (input, value) => {
    expect(parser.parse(input)).toEqual({ success: true, value });
    expect(parser.format(value)).toBe(input);
  });

  it.each(["", "host:0", "host:65536", "https://host", "::1", "host:"])("refuses %j", (input) => {
    expect(parser.parse(input)).toMatchObject({ success: false });
  });
});
