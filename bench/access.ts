/** Who comes in and what they may: a token that was seen before, and an authorization that is kept. */
import { generateKeyPairSync, sign } from "node:crypto";
import { TokenAuthenticators } from "../sim/apiserver/access/tokens/token-authenticators.ts";
import { WebhookAuthorizer } from "../sim/apiserver/access/webhooks/webhook-authorizer.ts";
import { readConfiguration } from "../sim/configuration/read.ts";
import { kubernetesRules } from "../sim/configuration/rules.ts";
import { bareSetting } from "../sim/configuration/setting.ts";
import { readKey } from "../sim/http/verification-keys.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import type { Bench } from "./harness.ts";

const issuer = "https://issuer.test";
const epochSeconds = 1_800_000_000;
const file = `
apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer: { url: "${issuer}", audiences: [bench] }
  claimMappings: { username: { expression: "'x:' + claims.sub" }, groups: { claim: groups, prefix: "g:" } }
  claimValidationRules: [{ expression: "claims.exp > 0" }]
  userValidationRules: [{ expression: "!user.username.startsWith('system:')" }]
`;

const kernel = new Kernel({ seed: "bench", epochUnixMillis: epochSeconds * 1_000 });
const process = kernel.process("apiserver-1");
const { clock } = process;
const keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });

function authenticators(): TokenAuthenticators {
  const read = readConfiguration("AuthenticationConfiguration", file, bareSetting(kubernetesRules));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const documents: Readonly<Record<string, unknown>> = {
    [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
    [`${issuer}/keys`]: { keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "k" }] },
  };
  const made = kernel.enter(
    process,
    () =>
      new TokenAuthenticators(read.value.authenticators, {
        clock,
        rules: kubernetesRules,
        readKey,
        log: () => {},
        call: ({ url }, done) => clock.after(0, () => done({ status: 200, body: documents[url] })),
      }),
  );
  kernel.run(kernel.nowMicros() + 1_000);
  return made;
}

function token(subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: issuer, aud: "bench", sub: subject, exp: epochSeconds + 3_600, groups: ["a", "b"] };
  const input = `${part({ alg: "RS256", kid: "k" })}.${part(claims)}`;
  return `${input}.${sign("sha256", Buffer.from(input), keys.privateKey).toString("base64url")}`;
}

let subjects = 0;

/** Microseconds a token, of `count` that each come `uses` times. */
function tokenMicros(count: number, uses: number): number {
  const tokens = Array.from({ length: count }, () => token(`user-${subjects++}`));
  const reader = authenticators();
  let good = 0;
  const start = performance.now();
  for (let use = 0; use < uses; use++) {
    for (const each of tokens) reader.read(each, ({ is }) => (good += is === "user" ? 1 : 0));
  }
  const micros = ((performance.now() - start) * 1_000) / (count * uses);
  if (good !== count * uses) throw new Error(`${good} of ${count * uses} tokens were taken`);
  return micros;
}

function cachedMicros(): number {
  const settings = {
    authorizedMicros: 3_600_000_000,
    unauthorizedMicros: 1_000_000,
    timeoutMicros: 1_000_000,
    reviewVersion: "v1",
    failurePolicy: "Deny",
    connectionFile: undefined,
    conditions: [],
  } as const;
  const counts = { called: () => {}, excluded: () => {}, conditionFailed: () => {}, failedOpen: () => {} };
  const { dialect } = kubernetesRules;
  const authorizer = new WebhookAuthorizer(settings, {
    clock,
    dialect,
    counts,
    call: (body, done) => clock.after(0, () => done({ status: 200, body: { ...body, status: { allowed: true } } })),
  });
  const user = { name: "jane", uid: "1", groups: ["a", "system:authenticated"] };
  const resource = { group: "", resource: "pods" };
  const asked = {
    is: "resource",
    verb: "get",
    resource,
    version: "v1",
    subresource: "",
    namespace: "ns",
    name: "x",
  } as const;
  kernel.enter(process, () => authorizer.decide(user, asked, () => {}));
  kernel.run(kernel.nowMicros() + 1_000);
  let allowed = 0;
  const rounds = 200_000;
  const start = performance.now();
  for (let round = 0; round < rounds; round++) {
    authorizer.decide(user, asked, (decision) => (allowed += decision.allowed ? 1 : 0));
  }
  const micros = ((performance.now() - start) * 1_000) / rounds;
  if (allowed !== rounds) throw new Error(`${allowed} of ${rounds} were allowed`);
  return micros;
}

export const benches: readonly Bench[] = [
  { name: "access.token-first", unit: "µs", run: () => tokenMicros(200, 1) },
  { name: "access.token-again", unit: "µs", run: () => tokenMicros(200, 200), target: 100 },
  { name: "access.authorization-kept", unit: "µs", run: cachedMicros, target: 5 },
];
