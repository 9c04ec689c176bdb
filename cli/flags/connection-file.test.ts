import { afterAll, describe, expect, it } from "vitest";
import { selfSignedCertificate } from "../../sim/http/certificates/self-signed.ts";
import { readConnectionFile } from "./connection-file.ts";
import { cleanUp, scratchFile } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const made = selfSignedCertificate({ hosts: ["tester"], usage: "client", notBeforeMillis: 0, notAfterMillis: 1e12 });
const other = selfSignedCertificate({ hosts: ["other"], usage: "client", notBeforeMillis: 0, notAfterMillis: 1e12 });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const certificateFile = scratchFile("tester.pem", made.certificate);
scratchFile("tester.key", made.privateKey);

let files = 0;

/** A file with one context `here`, of a cluster `near` and a user `me`. */
function reached(cluster: object, user: object = {}, more: object = {}, context?: string) {
  const document = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "near", cluster: { server: "https://10.0.0.1:6443/", ...cluster } }],
    users: [{ name: "me", user }],
    contexts: [{ name: "here", context: { cluster: "near", user: "me" } }],
    "current-context": "here",
    ...more,
  };
  return readConnectionFile(scratchFile(`config-${files++}.yaml`, JSON.stringify(document)), context);
}

describe("connection files", () => {
  it("say where the server is and what it is to be shown", () => {
    expect(
      reached(
        { "certificate-authority-data": base64(made.certificate), "tls-server-name": "api.example" },
        {
          token: "secret",
          "client-certificate-data": base64(made.certificate),
          "client-key-data": base64(made.privateKey),
        },
      ),
    ).toEqual({
      url: "https://10.0.0.1:6443",
      authority: made.certificate,
      insecureSkipTlsVerify: false,
      tlsServerName: "api.example",
      token: "secret",
      clientCertificate: { certificate: made.certificate, key: made.privateKey },
      impersonation: undefined,
    });
  });

  it("say as whom to act", () => {
    const found = reached(
      {},
      { as: "alice", "as-uid": "1", "as-groups": ["devs", "ops"], "as-user-extra": { "example.com/Team": ["a", "b"] } },
    );
    expect(found.impersonation).toEqual({
      "impersonate-user": "alice",
      "impersonate-uid": "1",
      "impersonate-group": ["devs", "ops"],
      "impersonate-extra-example.com%2FTeam": ["a", "b"],
    });
    expect(() => reached({}, { "as-groups": ["devs"] })).toThrow(
      /users\.0\.user\.as: must name a user when as-uid, as-groups or as-user-extra is given\./,
    );
  });

  it("name other files from their own folder", () => {
    scratchFile("secret-token", "from-a-file\n");
    const found = reached(
      { "certificate-authority": "tester.pem" },
      { tokenFile: "secret-token", "client-certificate": certificateFile, "client-key": "tester.key" },
    );
    expect(found).toMatchObject({ authority: made.certificate, token: "from-a-file" });
    expect(found.clientCertificate).toEqual({ certificate: made.certificate, key: made.privateKey });
  });

  it("have a current context, and others to be named", () => {
    const contexts = ["one", "two"].map((name) => ({ name, context: { cluster: name } }));
    const clusters = ["one", "two"].map((name) => ({ name, cluster: { server: `http://${name}:80` } }));
    const both = { contexts, clusters, "current-context": "one" };
    expect(reached({}, {}, both)).toMatchObject({ url: "http://one:80", token: undefined });
    expect(reached({}, {}, both, "two")).toMatchObject({ url: "http://two:80" });
  });

  it("have clusters, contexts or users: any other file is told as none", () => {
    const file = scratchFile("package.json", '{ "name": "a", "scripts": {} }');
    for (const context of [undefined, "here"])
      expect(() => readConnectionFile(file, context)).toThrow(
        /^--svcconfig \S+: this is no connection file: it has no clusters, contexts and users\. Give one in the form/,
      );
    expect(() => reached({}, {}, { "current-context": "" })).toThrow("current-context: is not set");
  });

  it("hold more than is asked for: what another context needs does not matter, and an empty list may be null", () => {
    const clusters = [
      { name: "near", cluster: { server: "https://near:1" } },
      { name: "far", cluster: { server: "https://far:1", "proxy-url": "http://p" } },
    ];
    const users = [
      { name: "cloud", user: { exec: { command: "login" } } },
      { name: "me", user: { token: "t" } },
    ];
    expect(reached({}, {}, { clusters, users })).toMatchObject({ url: "https://near:1", token: "t" });
    const alone = { users: null, contexts: [{ name: "here", context: { cluster: "near" } }], preferences: {} };
    expect(reached({}, {}, alone)).toMatchObject({ token: undefined, clientCertificate: undefined });
  });

  const noContext = { "current-context": "" };
  const elsewhere = { contexts: [{ name: "here", context: { cluster: "far", user: "me" } }] };
  const mixed = {
    "client-certificate-data": base64(made.certificate),
    "client-key-data": base64(other.privateKey),
  };
  it.each<[string, () => unknown, RegExp]>([
    ["no current context", () => reached({}, {}, noContext), /current-context: is not set: name one with --context/],
    ["an unknown context", () => reached({}, {}, {}, "there"), /contexts: none is called "there"; there are here/],
    ["an unknown cluster", () => reached({}, {}, elsewhere), /clusters: none is called "far"; there are near/],
    ["a server that is no URL", () => reached({ server: "10.0.0.1" }), /clusters\.0\.cluster\.server: must be an abs/],
    ["no cluster at all", () => reached({}, {}, { clusters: null }), /clusters: none is called "near"; there are none/],
    [
      "an empty row",
      () => reached({}, {}, { clusters: [{ name: "near" }] }),
      /: clusters\.0\.cluster: is missing: expected fields/,
    ],
    ["a proxy", () => reached({ "proxy-url": "http://p" }), /clusters\.0\.cluster\.proxy-url: is not supported/],
    ["a plugin", () => reached({}, { exec: { command: "login" } }), /users\.0\.user\.exec: is not supported: a plugin/],
    ["a password", () => reached({}, { password: "p" }), /users\.0\.user\.password: is not supported/],
    ["a certificate alone", () => reached({}, { "client-certificate": "tester.pem" }), /go together: give both/],
    ["another's key", () => reached({}, mixed), /users\.me\.client-certificate: .*its own PEM key/],
    ["what is no certificate", () => reached({ "certificate-authority-data": "eA==" }), /no certificate in it/],
    ["a file that is not there", () => reached({}, { tokenFile: "nowhere" }), /users\.me\.tokenFile: .*can be read/],
    [
      "no YAML",
      () => readConnectionFile(scratchFile("bad.yaml", "a: [b\n"), undefined),
      /bad\.yaml: not YAML: .* at line 2, column 1\.$/,
    ],
    ["a list", () => readConnectionFile(scratchFile("list.yaml", "[]"), undefined), /list\.yaml: the document: /],
  ])("refuse %s", (_name, read, message) => {
    expect(read).toThrow(message);
  });
});
