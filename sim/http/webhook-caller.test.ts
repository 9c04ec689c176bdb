import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { json } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { selfSignedCertificate } from "./certificates/self-signed.ts";
import { startWallServer } from "./wall-server.ts";

const pair = selfSignedCertificate({
  hosts: ["127.0.0.1"],
  notBeforeMillis: Date.UTC(2020, 0, 1),
  notAfterMillis: Date.UTC(2055, 0, 1),
});

type Review = { readonly request: { readonly uid: string; readonly object: { readonly metadata: { name: string } } } };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A webhook on a socket that lets everything pass but objects named `bad`. */
async function webhook(): Promise<string> {
  const server: Server = createServer({ cert: pair.certificate, key: pair.privateKey }, (request, response) => {
    void json(request).then((body) => answer(body as Review, response));
  });
  const answer = (review: Review, response: ServerResponse): void => {
    const { uid, object } = review.request;
    const allowed = object.metadata.name !== "bad";
    response.setHeader("content-type", "application/json");
    const said = { uid, allowed, ...(allowed ? {} : { status: { message: "a bad name" } }) };
    response.end(JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response: said }));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  return `https://127.0.0.1:${(server.address() as { port: number }).port}/review`;
}

/** A served API, with the webhook configured; answers whether an object of that name can be made. */
async function served(url: string, caBundle: string): Promise<(name: string) => Promise<[number, string]>> {
  const errors: unknown[] = [];
  const server = await startWallServer({
    seed: "s",
    port: 0,
    bindAddress: "127.0.0.1",
    tokens: [{ token: "t", user: "admin", uid: "1", groups: ["system:masters"] }],
    onError: (error) => errors.push(error),
  });
  open.push({ close: () => server.close(0) });
  const base = `http://127.0.0.1:${server.port}`;
  const post = async (path: string, body: object): Promise<[number, string]> => {
    const headers = { "content-type": "application/json", authorization: "Bearer t" };
    const response = await fetch(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const { message = "" } = (await response.json()) as { message?: string };
    expect(errors).toEqual([]);
    return [response.status, message];
  };
  const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
  const [status] = await post("/apis/admissionregistration.svc.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "hooks" },
    webhooks: [
      {
        name: "names.example.org",
        clientConfig: { url, caBundle: btoa(caBundle) },
        rules: [rule],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  expect(status).toBe(201);
  return (name) => post("/api/v1/namespaces/default/configmaps", { metadata: { name } });
}

describe("webhooks over HTTPS", () => {
  it("are asked, and what they say counts", async () => {
    const make = await served(await webhook(), pair.certificate);
    expect(await make("good")).toEqual([201, ""]);
    expect(await make("bad")).toEqual([400, 'admission webhook "names.example.org" denied the request: a bad name']);
  });

  it("fail when their certificate is nobody's that is trusted, when nobody listens, or when the bundle is none", async () => {
    const other = selfSignedCertificate({
      hosts: ["127.0.0.1"],
      notBeforeMillis: Date.UTC(2020, 0, 1),
      notAfterMillis: Date.UTC(2055, 0, 1),
    });
    for (const [url, bundle] of [
      [await webhook(), other.certificate],
      ["https://127.0.0.1:9/review", pair.certificate],
      [await webhook(), "no certificate"],
    ] as const) {
      const [status, message] = await (await served(url, bundle))("good");
      expect(status).toBe(500);
      expect(message).toContain('failed calling webhook "names.example.org": failed to call webhook: Post "https://');
    }
  });
});
