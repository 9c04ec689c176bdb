import { describe, expect, it } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";

const core = "/api/v1/namespaces/default";
const accounts = `${core}/serviceaccounts`;

function bedWith(options: ConstructorParameters<typeof TestBed>[0] = {}): TestBed {
  const bed = new TestBed({ profile: kubernetesProfile, ...options });
  bed.ask(`POST ${accounts}`, { as: "admin", body: { metadata: { name: "robot" } } });
  return bed;
}

const request = (bed: TestBed, spec: object = {}, name = "robot"): Answer =>
  bed.ask(`POST ${accounts}/${name}/token`, { as: "admin", body: { spec } });
const tokenOf = (bed: TestBed, spec?: object): string => request(bed, spec).at("status.token") as string;
const partOf = (token: string, at: 0 | 1): JsonObject =>
  JSON.parse(new TextDecoder().decode(decodeBase64Url(token.split(".")[at] as string) as Uint8Array)) as JsonObject;
const review = (bed: TestBed, token: string, audiences?: readonly string[]): JsonObject =>
  bed
    .ask("POST /apis/authentication.k8s.io/v1/tokenreviews", { as: "admin", body: { spec: { token, audiences } } })
    .at("status") as JsonObject;

describe("a token for a service account", () => {
  it("says whose it is, for whom, and until when", () => {
    const bed = bedWith();
    const answer = request(bed);
    const issuer = "https://kubernetes.default.svc";
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "robot", namespace: "default", creationTimestamp: "2030-01-01T00:00:00Z" },
      spec: { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null },
      status: { expirationTimestamp: "2030-01-01T01:00:00Z" },
    });
    const token = answer.at("status.token") as string;
    const uid = bed.ask(`GET ${accounts}/robot`, { as: "admin" }).at("metadata.uid");
    expect(partOf(token, 0)).toEqual({ alg: "HS256", kid: "simulated", typ: "JWT" });
    expect(partOf(token, 1)).toMatchObject({
      aud: [issuer],
      iss: issuer,
      iat: 1_893_456_000,
      nbf: 1_893_456_000,
      exp: 1_893_459_600,
      sub: "system:serviceaccount:default:robot",
      "kubernetes.io": { namespace: "default", serviceaccount: { name: "robot", uid } },
    });
  });

  it("is the same again in the same run, and another each time", () => {
    expect(tokenOf(bedWith())).toBe(tokenOf(bedWith()));
    const bed = bedWith();
    expect(tokenOf(bed)).not.toBe(tokenOf(bed));
  });

  it("is a credential until it expires", () => {
    const bed = bedWith();
    const token = tokenOf(bed, { expirationSeconds: 600 });
    const who = (): Answer =>
      bed.ask("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", { as: token, body: {} });
    expect(who().at("status.userInfo")).toMatchObject({
      username: "system:serviceaccount:default:robot",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`JTI=${partOf(token, 1)["jti"] as string}`] },
    });
    bed.advance(599);
    expect(who().status).toBe(201);
    bed.advance(1);
    expect(who().status).toBe(401);
    expect(review(bed, token)).toEqual({ user: {}, error: "invalid bearer token" });
  });

  it("is good for its audiences alone", () => {
    const bed = bedWith();
    const token = tokenOf(bed, { audiences: ["vault", "other"] });
    expect(bed.ask(`GET ${configMaps}`, { as: token }).status).toBe(401);
    expect(review(bed, token)).not.toHaveProperty("authenticated");
    expect(review(bed, token, ["vault", "third"])).toMatchObject({ authenticated: true, audiences: ["vault"] });
    const own = bedWith({ audiences: ["api"] });
    expect(request(own).at("spec.audiences")).toEqual(["api"]);
    expect(own.ask(`GET ${configMaps}`, { as: tokenOf(own) }).status).toBe(200);
  });

  it("ends with its account, even if another of that name comes", () => {
    const bed = bedWith();
    const token = tokenOf(bed);
    bed.ask(`DELETE ${accounts}/robot`, { as: "admin" });
    expect(bed.ask(`GET ${configMaps}`, { as: token }).status).toBe(401);
    bed.ask(`POST ${accounts}`, { as: "admin", body: { metadata: { name: "robot" } } });
    expect(bed.ask(`GET ${configMaps}`, { as: token }).status).toBe(401);
  });

  it("ends with the pod that it is bound to, a minute after the pod's own end", () => {
    const bed = bedWith();
    const spec = { serviceAccountName: "robot", nodeName: "n", containers: [{ name: "c", image: "i" }] };
    bed.ask("POST /api/v1/nodes", { as: "admin", body: { metadata: { name: "n" } } });
    bed.ask(`POST ${core}/pods`, {
      as: "admin",
      body: { metadata: { name: "p", finalizers: ["example.com/x"] }, spec },
    });
    const token = tokenOf(bed, { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } });
    const uid = bed.ask(`GET ${core}/pods/p`, { as: "admin" }).at("metadata.uid");
    expect(review(bed, token)["user"]).toMatchObject({
      extra: {
        "authentication.kubernetes.io/pod-name": ["p"],
        "authentication.kubernetes.io/pod-uid": [uid],
        "authentication.kubernetes.io/node-name": ["n"],
      },
    });
    bed.ask(`DELETE ${core}/pods/p?gracePeriodSeconds=0`, { as: "admin" });
    bed.advance(59);
    expect(review(bed, token)["authenticated"]).toBe(true);
    bed.advance(1);
    expect(review(bed, token)).not.toHaveProperty("authenticated");
  });

  it("cannot be forged, changed or brought from elsewhere", () => {
    const bed = bedWith();
    const token = tokenOf(bed);
    const [head = "", body = "", signature = ""] = token.split(".");
    const text = (value: object): string => encodeBase64Url(new TextEncoder().encode(JSON.stringify(value)));
    const greater = text({ ...partOf(token, 1), exp: 4_000_000_000 });
    for (const forged of [
      `${head}.${greater}.${signature}`,
      `${text({ ...partOf(token, 0), alg: "none" })}.${body}.`,
      `${text({ ...partOf(token, 0), alg: "RS256" })}.${body}.${signature}`,
      `${head}.${body}`,
      `${token}.`,
      `${head}.${body}.!`,
      "...",
      tokenOf(new TestBed({ profile: svcProfile, tokens: [{ token: "admin", user: "a", uid: "", groups: [] }] })) ??
        "x",
    ]) {
      expect(bed.ask(`GET ${configMaps}`, { as: forged }).status).toBe(401);
    }
    expect(bed.ask(`GET ${configMaps}`, { as: token }).status).toBe(200);
  });
});

describe("requests for tokens", () => {
  it("have bounds", () => {
    const bed = bedWith();
    for (const [expirationSeconds, why] of [
      [599, "may not specify a duration less than 10 minutes"],
      [4_294_967_297, "may not specify a duration larger than 2^32 seconds"],
    ] as const) {
      const refused = request(bed, { expirationSeconds });
      expect([refused.status, refused.at("details.kind"), refused.at("details.causes.0.message")]).toEqual([
        422,
        "TokenRequest",
        `Invalid value: ${expirationSeconds}: ${why}`,
      ]);
    }
    expect(request(bed, {}, "nobody").status).toBe(404);
    const named = { body: { metadata: { name: "other" }, spec: {} } };
    const misnamed = bed.ask(`POST ${accounts}/robot/token`, named);
    expect([misnamed.status, misnamed.at("details.causes.0.message")]).toEqual([
      422,
      'Invalid value: "other": must match the service account name if specified',
    ]);
    expect(bed.ask(`GET ${accounts}/robot/token`).status).toBe(405);
  });

  it("are bound to objects that are there, and are the account's", () => {
    const bed = bedWith();
    const bound = (ref: object): Answer => request(bed, { boundObjectRef: ref });
    const secret = { kind: "Secret", apiVersion: "v1", name: "s" };
    expect(bound(secret).status).toBe(404);
    bed.ask(`POST ${core}/secrets`, { as: "admin", body: { metadata: { name: "s" } } });
    expect(bound(secret).status).toBe(201);
    expect([bound({ ...secret, uid: "other" }).status, bound({ ...secret, uid: "other" }).reason]).toEqual([
      409,
      "Conflict",
    ]);
    expect(bound({ kind: "ConfigMap", apiVersion: "v1", name: "c" }).status).toBe(400);
    const spec = { containers: [{ name: "c", image: "i" }] };
    bed.ask(`POST ${core}/pods`, { as: "admin", body: { metadata: { name: "p" }, spec } });
    expect(bound({ kind: "Pod", apiVersion: "v1", name: "p" }).at("message")).toContain("different serviceaccount");
  });
});

it("tells others how to check its tokens", () => {
  const bed = bedWith({ serviceAccountIssuer: "https://issuer.test", advertisedUrl: () => "https://10.0.0.1:6443" });
  const description = bed.ask("GET /.well-known/openid-configuration");
  expect([description.contentType, description.body]).toEqual([
    "application/json",
    {
      issuer: "https://issuer.test",
      jwks_uri: "https://10.0.0.1:6443/openid/v1/jwks",
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["HS256"],
    },
  ]);
  const keys = bed.ask("GET /openid/v1/jwks");
  expect([keys.contentType, keys.body]).toEqual(["application/jwk-set+json", { keys: [] }]);
  expect(bed.ask("POST /openid/v1/jwks").status).toBe(405);
  expect((bed.ask("GET /").at("paths") as string[])[0]).toBe("/.well-known/openid-configuration");
});
