import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { request as httpsRequest } from "node:https";
import { expect, it } from "vitest";
import { parseCertificateRequest, type CertificateRequest } from "../../kinds/certificates/request.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { critical, signedCertificate } from "./certificate.ts";
import { givenAuthority, runAuthority } from "./certificate-authority.ts";
import { distinguishedName, extension, sequence, time } from "./der-writer.ts";
import { certificateRequest } from "./request-writer.ts";
import { selfSignedCertificate } from "./self-signed.ts";
import { startWallServer } from "../wall-server.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const hour = 3_600_000;
const parsed = (pem: string): CertificateRequest => parseCertificateRequest(base64(pem)) as CertificateRequest;

it("signs what a request asks for, under its own name and for its time", () => {
  const now = 1_800_000_000_000;
  const authority = runAuthority(now);
  const { request } = certificateRequest({
    commonName: "system:node:n1",
    organizations: ["system:nodes"],
    hosts: ["n1.example.com", "10.0.0.7"],
  });
  const issued = authority.issue({
    request: parsed(request),
    usages: ["digital signature", "key encipherment", "server auth"],
    notBeforeSeconds: now / 1000 - 300,
    notAfterSeconds: now / 1000 + 600,
  });
  const certificate = new X509Certificate("pem" in issued ? issued.pem : "");
  const own = new X509Certificate(authority.certificate);
  expect(certificate.checkIssued(own) && certificate.verify(own.publicKey)).toBe(true);
  expect([own.ca, certificate.ca]).toEqual([true, false]);
  expect(certificate.subject).toBe("O=system:nodes\nCN=system:node:n1");
  expect(certificate.subjectAltName).toBe("DNS:n1.example.com, IP Address:10.0.0.7");
  expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect(certificate.validToDate.getTime()).toBe(now + 600_000);
});

it("signs for as many names as a request has room for", () => {
  const hosts = Array.from({ length: 45_000 }, () => "a");
  const asked = certificateRequest({ commonName: "many", hosts }).request;
  expect((asked.length * 4) / 3).toBeGreaterThan(240_000); // of the 262,144 characters that are read of a request in base64
  const request = parsed(asked);
  expect(request.dnsNames.length).toBe(hosts.length);
  const issued = runAuthority(0).issue({ request, usages: ["server auth"], notBeforeSeconds: 0, notAfterSeconds: 1 });
  const { subjectAltName = "" } = new X509Certificate("pem" in issued ? issued.pem : "");
  expect(subjectAltName.split(", ").length).toBe(hosts.length);
});

it("does not sign for a key that has not signed the request", () => {
  const [mine, other] = [certificateRequest({ commonName: "a" }), certificateRequest({ commonName: "a" })].map(
    ({ request }) => parsed(request),
  ) as [CertificateRequest, CertificateRequest];
  const terms = { usages: ["client auth"], notBeforeSeconds: 0, notAfterSeconds: 1 };
  const authority = runAuthority(0);
  expect(authority.issue({ ...terms, request: { ...mine, publicKey: other.publicKey } })).toEqual({
    error: "the request is not signed by its own key",
  });
  const odd = { ...mine, signatureAlgorithm: "1.2.3" };
  expect(authority.issue({ ...terms, request: odd })).toEqual({ error: "unsupported signature algorithm 1.2.3" });
});

it("gives a client a certificate by which the same server then knows it", async () => {
  const tls = selfSignedCertificate({
    hosts: ["127.0.0.1"],
    notBeforeMillis: Date.now() - hour,
    notAfterMillis: Date.now() + hour,
  });
  const server = await startWallServer({
    seed: "1",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: kubernetesProfile,
    tokens: [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }],
    tls,
    onError: (error) => {
      throw error;
    },
  });
  type Identity = { readonly cert: string; readonly key: string };
  const call = (method: string, path: string, body?: object, identity?: Identity): Promise<Record<string, never>> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", ...(identity ? {} : { authorization: "Bearer admin" }) };
      const outgoing = httpsRequest(server.url + path, {
        method,
        headers,
        ca: tls.certificate,
        agent: false,
        ...identity,
      });
      outgoing.on("error", reject).on("response", (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        incoming.on("end", () => resolve(JSON.parse(text) as Record<string, never>));
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  try {
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const { request, privateKey } = certificateRequest({ commonName: "alice", organizations: ["devs"] });
    const spec = {
      request: base64(request),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "client auth"],
      expirationSeconds: 600,
    };
    const made = await call("POST", requests, { metadata: { name: "alice" }, spec });
    const conditions = [{ type: "Approved", status: "True", reason: "Test" }];
    await call("PUT", `${requests}/alice/approval`, { ...made, status: { conditions } });
    let certificate: string | undefined;
    while (certificate === undefined) {
      const { status } = (await call("GET", `${requests}/alice`)) as unknown as { status: { certificate?: string } };
      ({ certificate } = status);
      expect(JSON.stringify(status)).not.toContain("Failed");
    }
    const identity = { cert: Buffer.from(certificate, "base64").toString(), key: privateKey };
    const who = await call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, identity);
    expect(who).toMatchObject({
      status: { userInfo: { username: "alice", groups: ["devs", "system:authenticated"] } },
    });
  } finally {
    await server.close(0);
  }
});

it("signs in the name of an authority that others know, by an elliptic or an RSA key", () => {
  const now = 1_800_000_000_000;
  const issuedBy = (certificate: string, key: string): [X509Certificate, X509Certificate] => {
    const authority = givenAuthority({ certificate, key });
    const { request } = certificateRequest({ commonName: "a" });
    const terms = { request: parsed(request), usages: ["client auth"], notBeforeSeconds: now / 1000 };
    const issued = authority.issue({ ...terms, notAfterSeconds: now / 1000 + 60 });
    return [new X509Certificate("pem" in issued ? issued.pem : ""), new X509Certificate(certificate)];
  };
  const elliptic = selfSignedCertificate({
    hosts: ["known"],
    organizations: ["o"],
    usage: "any",
    notBeforeMillis: now,
    notAfterMillis: now + 1,
  });
  const rsa = rsaPair();
  for (const [certificate, key] of [[elliptic.certificate, elliptic.privateKey], rsa] as const) {
    const [issued, own] = issuedBy(certificate, key);
    expect([issued.issuer, issued.checkIssued(own), issued.verify(own.publicKey)]).toEqual([own.subject, true, true]);
  }
});

it("does not sign without the key, nor in the name of what is no authority", () => {
  const times = { notBeforeMillis: 0, notAfterMillis: hour };
  const [one, other] = [
    selfSignedCertificate({ hosts: ["a"], ...times }),
    selfSignedCertificate({ hosts: ["a"], ...times }),
  ];
  expect(() => givenAuthority({ certificate: one.certificate, key: other.privateKey })).toThrow(
    "not the certificate's own",
  );
  const { request, privateKey } = certificateRequest({ commonName: "a" });
  const leaf = runAuthority(0).issue({
    request: parsed(request),
    usages: ["client auth"],
    notBeforeSeconds: 0,
    notAfterSeconds: 60,
  });
  expect(() => givenAuthority({ certificate: "pem" in leaf ? leaf.pem : "", key: privateKey })).toThrow(
    "not that of an authority",
  );
});

/** An authority with an RSA key, whose certificate does not say how its key is called. */
function rsaPair(): readonly [certificate: string, key: string] {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const name = distinguishedName("rsa authority", []);
  const certificate = signedCertificate(
    {
      issuer: name,
      subject: name,
      publicKeyInfo: publicKey.export({ type: "spki", format: "der" }),
      validity: sequence(time(0), time(4_000_000_000_000)),
      extensions: [extension("2.5.29.19", sequence(critical), critical)],
    },
    privateKey,
  );
  return [certificate, privateKey.export({ type: "pkcs8", format: "pem" }) as string];
}
