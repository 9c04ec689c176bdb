import type { ServerBugName } from "../../../planted/server-bugs.ts";
import { claimReaderWith, issuerCallerWith } from "../../../planted/wrappers/access-wrappers.ts";
import { plantedOf } from "../../../planted/wrappers/planted.ts";
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import fc from "fast-check";
import { CompactSign, GeneralSign, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { encodeBase64Url } from "../../../../wire/base64.ts";
import type { AuthenticationSettings } from "../../../configuration/authentication.ts";
import { readConfiguration } from "../../../configuration/read.ts";
import { type ConfigurationRules, kubernetesRules, svcRules } from "../../../configuration/rules.ts";
import { bareSetting } from "../../../configuration/setting.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { readKey } from "../../../http/verification-keys.ts";
import { Kernel } from "../../../kernel/kernel.ts";
import { issuerCalls, TokenIssuer } from "../../../outside/token-issuer.ts";
import { readPortableKey } from "./portable-keys.ts";
import type { TokenOutcome } from "../authenticate.ts";
import { TokenAuthenticators } from "./token-authenticators.ts";

const url = "https://issuer.test";
const other = "https://other.test/path";
const epochSeconds = 1_800_000_000;
const utf8 = new TextEncoder();

const mappings = `
    username: { claim: sub, prefix: "test:" }
    groups: { claim: groups, prefix: "g:" }
    uid: { claim: uid }
    extra: [{ key: example.com/team, valueExpression: claims.team }]`;
const plain = `{ username: { claim: sub, prefix: "" } }`;

const row = (issuer: string, claimMappings = mappings, more = ""): string => `
- issuer: { url: "${issuer}", audiences: [touchstone] }
  claimMappings: ${claimMappings}
${more}`;

function settingsOf(jwt: string, rules: ConfigurationRules = kubernetesRules): AuthenticationSettings {
  const header = `apiVersion: ${rules.apiVersions.AuthenticationConfiguration[0]}\nkind: AuthenticationConfiguration\n`;
  const read = readConfiguration("AuthenticationConfiguration", `${header}jwt:${jwt}`, bareSetting(rules));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

/** Issuers in a world of their own, with keys that they have drawn. */
function world(
  jwt: string,
  rules: ConfigurationRules = kubernetesRules,
  seed = "1",
  bugs: readonly ServerBugName[] = [],
) {
  const kernel = new Kernel({ seed, epochUnixMillis: epochSeconds * 1_000 });
  const process = kernel.process("apiserver-1");
  const issuers = [new TokenIssuer(url, process.prng), new TokenIssuer(other, process.prng.stream("other"))] as const;
  const lines: string[] = [];
  const tokens = kernel.enter(
    process,
    () =>
      new TokenAuthenticators(settingsOf(jwt, rules).authenticators, {
        clock: process.clock,
        rules,
        call: issuerCallerWith(plantedOf(bugs), issuerCalls(process, issuers)),
        readKey: readPortableKey,
        log: (line) => lines.push(line),
        readClaims: claimReaderWith(plantedOf(bugs)),
      }),
  );
  const read = (token: string, waitMicros = 60_000_000): TokenOutcome | "waits" => {
    let outcome: TokenOutcome | "waits" = "waits";
    kernel.enter(process, () => tokens.read(token, (found) => (outcome = found)));
    const until = kernel.nowMicros() + waitMicros;
    while (outcome === "waits" && (kernel.nextEventMicros ?? Infinity) <= until) kernel.step();
    return outcome;
  };
  /** What the log says of the last token. */
  const why = (): string => lines.at(-1) ?? "";
  return { kernel, process, issuers, tokens, read, why };
}

const claims = (changes: JsonObject = {}): JsonObject => ({
  sub: "jane",
  aud: "touchstone",
  exp: epochSeconds + 3_600,
  ...changes,
});

describe("a good token", () => {
  test("becomes the user that the mappings make of its claims", () => {
    const { read, issuers } = world(row(url));
    const token = issuers[0].token(claims({ groups: ["a", "b"], uid: "7", team: ["x", ""] }));
    expect(read(token)).toEqual({
      is: "user",
      user: {
        name: "test:jane",
        uid: "7",
        groups: ["g:a", "g:b", "system:authenticated"],
        extra: { "example.com/team": ["x"] },
      },
    });
  });

  test("costs no call after the first, and is remembered no longer than it lasts", () => {
    const { read, issuers, kernel, process, why } = world(row(url, plain));
    const token = issuers[0].token(claims({ exp: epochSeconds + 10 }));
    expect(read(token)).toMatchObject({ is: "user" });
    const calls = issuers[0].callCount;
    for (let round = 0; round < 50; round++) expect(read(token)).toMatchObject({ is: "user" });
    expect(issuers[0].callCount).toBe(calls);
    kernel.enter(process, () => process.clock.after(11_000_000, () => {}));
    kernel.run();
    expect(read(token)).toMatchObject({ is: "refused" });
    expect(why()).toContain("expired");
  });

  test("waits for the first keys of a slow issuer, and is refused by a silent one", () => {
    const slow = world(row(url, plain));
    slow.issuers[0].behaviour = { delayMicros: 3_000_000, mood: "well" };
    expect(slow.read(slow.issuers[0].token(claims()), 5_000_000)).toMatchObject({ is: "user" });
    const silent = world(row(url, plain));
    silent.issuers[0].behaviour = { delayMicros: 0, mood: "down" };
    silent.kernel.run(30_000_000);
    expect(silent.read(silent.issuers[0].token(claims()))).toMatchObject({ is: "refused" });
  });

  test.each(["wrong-issuer", "no-keys", "broken"] as const)(
    "is refused while its issuer is %s, and taken after",
    (mood) => {
      const { read, issuers, kernel, process } = world(row(url, plain));
      issuers[0].behaviour = { delayMicros: 1_000, mood };
      kernel.run(5_000_000);
      expect(read(issuers[0].token(claims()))).toMatchObject({ is: "refused" });
      issuers[0].behaviour = { delayMicros: 1_000, mood: "well" };
      kernel.enter(process, () => process.clock.after(20_000_000, () => {}));
      kernel.run();
      expect(read(issuers[0].token(claims()))).toMatchObject({ is: "user" });
    },
  );

  test("signed by a new key is taken at once, and one signed by the old key no more", () => {
    const { read, issuers } = world(row(url, plain));
    const old = issuers[0].token(claims());
    expect(read(old)).toMatchObject({ is: "user" });
    issuers[0].rotate();
    expect(read(issuers[0].token(claims()))).toMatchObject({ is: "user" });
    expect(read(old)).toMatchObject({ is: "refused" });
  });

  test("has the same bytes in every run of a seed", () => {
    const token = (seed: string): string => world(row(url, plain), kubernetesRules, seed).issuers[0].token(claims());
    expect(token("7")).toBe(token("7"));
    expect(token("7")).not.toBe(token("8"));
  });
});

describe("names of keys that nobody has", () => {
  test("make the server call its issuer now and then, and no more", () => {
    const { read, issuers } = world(row(url, plain));
    for (let at = 0; at < 100; at++) read(issuers[0].token(claims(), { kid: `made-up-${at}` }), 10_000);
    expect(issuers[0].callCount).toBeLessThanOrEqual(10);
  });
});

describe("claims", () => {
  const rules = (more: string): string => row(url, plain, more);
  const cases: Readonly<Record<string, readonly [jwt: string, claims: JsonObject, why: string]>> = {
    "the wrong audience": [row(url, plain), claims({ aud: "others" }), "aud"],
    "no audience": [row(url, plain), { sub: "jane", exp: epochSeconds + 60 }, "aud"],
    "an audience that is no text": [row(url, plain), claims({ aud: [["touchstone"]] }), "aud"],
    "no expiry": [row(url, plain), { sub: "jane", aud: "touchstone" }, "exp"],
    "an expiry that is no number": [row(url, plain), claims({ exp: "later" }), "exp"],
    "the past": [row(url, plain), claims({ exp: epochSeconds - 1 }), "expired"],
    "the future": [row(url, plain), claims({ nbf: epochSeconds + 100 }), "not valid yet"],
    "no username": [row(url, plain), { aud: "touchstone", exp: epochSeconds + 60 }, "username"],
    "a username that is a list": [row(url, plain), claims({ sub: ["jane"] }), "username"],
    "an empty username": [row(url, plain), claims({ sub: "" }), "username is empty"],
    "an expression that gives no text": [row(url, `{ username: { expression: "1 == 1" } }`), claims(), "username"],
    "an unverified email": [
      row(url, `{ username: { claim: email, prefix: "" } }`),
      claims({ email: "a@b", email_verified: false }),
      "not verified",
    ],
    "an email verified in words": [
      row(url, `{ username: { claim: email, prefix: "" } }`),
      claims({ email: "a@b", email_verified: "false" }),
      "not verified",
    ],
    "an email that no expression verified": [
      row(url, `{ username: { expression: "claims.email_verified ? claims.email : ''" } }`),
      claims({ email: "a@b" }),
      "cannot be evaluated",
    ],
    "a claim that has to be there": [rules("  claimValidationRules: [{ claim: hd }]"), claims(), "hd"],
    "a claim with another value": [
      rules("  claimValidationRules: [{ claim: hd, requiredValue: a }]"),
      claims({ hd: "b" }),
      "hd",
    ],
    "a rule that does not hold": [
      rules(`  claimValidationRules: [{ expression: "claims.exp - claims.iat <= 60" }]`),
      claims({ iat: epochSeconds }),
      "not true",
    ],
    "a reserved name": [
      rules(`  userValidationRules: [{ expression: "!user.username.startsWith('system:')" }]`),
      claims({ sub: "system:admin" }),
      "not true",
    ],
    "a reserved group": [
      row(
        url,
        `{ username: { claim: sub, prefix: "" }, groups: { claim: groups, prefix: "" } }`,
        `  userValidationRules: [{ expression: "user.groups.all(group, !group.startsWith('system:'))" }]`,
      ),
      claims({ groups: ["system:masters"] }),
      "not true",
    ],
    "groups that are numbers": [
      row(url, `{ username: { claim: sub, prefix: "" }, groups: { claim: groups, prefix: "" } }`),
      claims({ groups: [1] }),
      "groups",
    ],
    "no uid": [row(url, `{ username: { claim: sub, prefix: "" }, uid: { claim: uid } }`), claims(), "uid"],
  };

  test.each(Object.entries(cases))("with %s are refused", (_name, [jwt, said, part]) => {
    const { read, issuers, why } = world(jwt);
    expect(read(issuers[0].token(said))).toEqual({ is: "refused", message: "" });
    expect(why()).toContain(part);
  });

  test.each([
    ["the text", "x", ["x"]],
    ["texts", ["x", "", "y"], ["x", "y"]],
    ["nothing", null, []],
    ["the empty text", "", []],
    ["no texts", [], []],
  ])("groups may be %s", (_name, groups, expected) => {
    const { read, issuers } = world(
      row(url, `{ username: { claim: sub, prefix: "" }, groups: { claim: groups, prefix: "" } }`),
    );
    expect(read(issuers[0].token(claims({ groups })))).toMatchObject({
      user: { groups: [...expected, "system:authenticated"] },
    });
  });

  test("rules come before mappings in the documents, and after them in the observed server", () => {
    const jwt = row(
      url,
      plain,
      `  claimValidationRules: [{ expression: "claims.sub == 'jane'", message: "only Jane" }]`,
    );
    const said = { aud: "touchstone", exp: epochSeconds + 60, sub: 5 };
    const first = world(jwt, svcRules);
    expect(first.read(first.issuers[0].token(said))).toEqual({ is: "refused", message: "only Jane" });
    const after = world(jwt, kubernetesRules);
    expect(after.read(after.issuers[0].token(said))).toEqual({ is: "refused", message: "" });
    expect(after.why()).toContain("username");
  });
});

describe("attacks", () => {
  const machine = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const stranger = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const jwk = (key: KeyObject, kid: string): JsonObject => ({ ...(key.export({ format: "jwk" }) as JsonObject), kid });

  /** A server that knows two issuers, with keys of the usual kinds. */
  function target() {
    const kernel = new Kernel({ seed: "1", epochUnixMillis: epochSeconds * 1_000 });
    const process = kernel.process("apiserver-1");
    const sets: Readonly<Record<string, unknown>> = {
      [`${url}/.well-known/openid-configuration`]: { issuer: url, jwks_uri: `${url}/keys` },
      [`${url}/keys`]: { keys: [jwk(machine.publicKey, "rsa"), jwk(curve.publicKey, "ec")] },
      [`${other}/.well-known/openid-configuration`]: { issuer: other, jwks_uri: `${other}/keys` },
      [`${other}/keys`]: { keys: [jwk(stranger.publicKey, "rsa")] },
    };
    const tokens = kernel.enter(
      process,
      () =>
        new TokenAuthenticators(settingsOf(row(url, plain) + row(other, plain)).authenticators, {
          clock: process.clock,
          rules: kubernetesRules,
          call: (call, done) =>
            process.clock.after(1_000, () =>
              done({ status: sets[call.url] === undefined ? 404 : 200, body: sets[call.url] }),
            ),
          readKey,
          log: () => {},
        }),
    );
    kernel.run(100_000);
    return (token: string): string => {
      let outcome: TokenOutcome | undefined;
      kernel.enter(process, () => tokens.read(token, (found) => (outcome = found)));
      kernel.run(kernel.nowMicros() + 1_000_000);
      return outcome?.is ?? "waits";
    };
  }

  const signed = (key: KeyObject, alg: string, changes: JsonObject = {}, header: JsonObject = {}): Promise<string> =>
    new SignJWT({ iss: url, ...claims(changes) } as never)
      .setProtectedHeader({ alg, kid: "rsa", ...header } as never)
      .sign(key);
  const part = (value: unknown): string => encodeBase64Url(utf8.encode(JSON.stringify(value)));
  const body = part({ iss: url, ...claims() });

  test("the good ones are taken, by each algorithm", async () => {
    const read = target();
    for (const alg of ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]) {
      expect([alg, read(await signed(machine.privateKey, alg))]).toEqual([alg, "user"]);
    }
    expect(read(await signed(curve.privateKey, "ES256", {}, { kid: "ec" }))).toBe("user");
    const unnamed = await new SignJWT({ iss: url, ...claims() } as never)
      .setProtectedHeader({ alg: "RS256" })
      .sign(machine.privateKey);
    expect(read(unnamed)).toBe("user");
  });

  const attacks: Readonly<Record<string, () => Promise<string> | string>> = {
    "no algorithm": () => `${part({ alg: "none" })}.${body}.`,
    "no algorithm, in other letters": () => `${part({ alg: "nOnE", kid: "rsa" })}.${body}.`,
    "the public key as a shared secret": () => {
      const input = `${part({ alg: "HS256", kid: "rsa" })}.${body}`;
      const secret = machine.publicKey.export({ type: "spki", format: "pem" });
      return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
    },
    "another issuer": () => signed(machine.privateKey, "RS256", { iss: "https://evil.test" }),
    "an issuer with a slash more": () => signed(machine.privateKey, "RS256", { iss: `${url}/` }),
    "the wrong audience": () => signed(machine.privateKey, "RS256", { aud: "others" }),
    expired: () => signed(machine.privateKey, "RS256", { exp: epochSeconds - 1 }),
    "not valid yet": () => signed(machine.privateKey, "RS256", { nbf: epochSeconds + 60 }),
    "an unknown key": () => signed(stranger.privateKey, "RS256", {}, { kid: "stranger" }),
    "a stranger's key under a known name": () => signed(stranger.privateKey, "RS256"),
    "keys of another authenticator": () => signed(stranger.privateKey, "RS256", { iss: url }),
    "the right key in another authenticator's name": () => signed(machine.privateKey, "RS256", { iss: other }),
    "a changed payload": async () => {
      const [head, , proof] = (await signed(machine.privateKey, "RS256")).split(".");
      return `${head}.${part({ iss: url, ...claims({ sub: "admin" }) })}.${proof}`;
    },
    "an algorithm of another key": () => signed(curve.privateKey, "ES256", {}, { kid: "rsa" }),
    "two signatures": async () => {
      const both = await new GeneralSign(utf8.encode(JSON.stringify({ iss: url, ...claims() })))
        .addSignature(machine.privateKey)
        .setProtectedHeader({ alg: "RS256" })
        .addSignature(stranger.privateKey)
        .setProtectedHeader({ alg: "RS256" })
        .sign();
      return JSON.stringify(both);
    },
    "a part more": async () => `${await signed(machine.privateKey, "RS256")}.${part({})}`,
    "a key of its own": () => signed(stranger.privateKey, "RS256", {}, { kid: "x", jwk: jwk(stranger.publicKey, "x") }),
    "a key set of its own": () => signed(stranger.privateKey, "RS256", {}, { kid: "x", jku: "https://evil.test/keys" }),
    "a certificate of its own": () =>
      signed(stranger.privateKey, "RS256", {}, { kid: "x", x5u: "https://evil.test/c" }),
    "an unknown critical part": () =>
      new CompactSign(utf8.encode(JSON.stringify({ iss: url, ...claims() })))
        .setProtectedHeader({ alg: "RS256", kid: "rsa", crit: ["exotic"], exotic: 1 })
        .sign(machine.privateKey, { crit: { exotic: true } }),
    "a payload that is not encoded": () =>
      new CompactSign(utf8.encode(JSON.stringify({ iss: url, ...claims() })))
        .setProtectedHeader({ alg: "RS256", kid: "rsa", crit: ["b64"], b64: true })
        .sign(machine.privateKey),
    "a huge token": () => signed(machine.privateKey, "RS256", { padding: "x".repeat(200_000) }),
    "no claims": () => signed(machine.privateKey, "RS256", { sub: null, aud: null, exp: null }),
    "no object": () => `${part({ alg: "RS256" })}.${part([1])}.x`,
    "claims as deep as a well": () => `${part({ alg: "RS256" })}.${encodeBase64Url(utf8.encode("[".repeat(20_000)))}.x`,
    "an empty signature": () => `${part({ alg: "RS256", kid: "rsa" })}.${body}.`,
  };

  test.each(Object.entries(attacks))("%s", async (_name, make) => {
    expect(["refused", "foreign"]).toContain(target()(await make()));
  });

  test("no bit of a good token can be changed", async () => {
    const read = target();
    const good = await signed(machine.privateKey, "RS256");
    expect(read(good)).toBe("user");
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.nat({ max: 63 }), (at, to) => {
        const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        const changed = good.slice(0, at) + alphabet[to] + good.slice(at + 1);
        if (changed !== good) expect(read(changed)).not.toBe("user");
      }),
      { numRuns: 300 },
    );
  });

  test("no text at all ends the server", () => {
    const read = target();
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(read(text)).not.toBe("user");
      }),
    );
  });
});

test("another file counts at once, and nothing that the old one accepted", () => {
  const { read, issuers, tokens, kernel, process } = world(row(url, plain));
  const token = issuers[0].token(claims());
  expect(read(token)).toMatchObject({ user: { name: "jane" } });
  const changed = settingsOf(row(url, `{ username: { claim: sub, prefix: "new:" } }`));
  kernel.enter(process, () => tokens.reload(changed.authenticators));
  expect(read(token)).toMatchObject({ user: { name: "new:jane" } });
  kernel.enter(process, () => tokens.reload([]));
  expect(read(token)).toEqual({ is: "foreign" });
});

test("a planted bug takes an email that nobody has verified, and the table above would see it", () => {
  const jwt = row(url, `{ username: { claim: email, prefix: "" } }`);
  for (const bugs of [[], ["jwt-email-unverified"]] as const) {
    const { issuers, read } = world(jwt, kubernetesRules, "1", bugs);
    const outcome = read(issuers[0].token(claims({ email: "a@b", email_verified: false })));
    expect(outcome).toMatchObject({ is: bugs.length > 0 ? "user" : "refused" });
  }
});

test("planted bugs of keys: read once, kept for ever, and taken for those of another issuer", () => {
  const jwt = row(url, plain) + row(other, plain);
  const takenWith = (...bugs: ServerBugName[]): readonly boolean[] => {
    const { issuers, read } = world(jwt, kubernetesRules, "1", bugs);
    const [first, second] = issuers;
    const isTaken = (token: string): boolean => (read(token) as TokenOutcome).is === "user";
    const old = first.token(claims({ sub: "old" }));
    for (const issuer of issuers) isTaken(issuer.token(claims()));
    first.rotate();
    return [
      isTaken(first.token(claims({ sub: "new" }))),
      isTaken(old),
      isTaken(second.token(claims({ iss: url, sub: "forged" }))),
    ];
  };
  expect(takenWith()).toEqual([true, false, false]);
  expect(takenWith("jwt-keys-read-once")).toEqual([false, true, false]);
  expect(takenWith("jwt-old-keys-kept")).toEqual([true, true, false]);
  expect(takenWith("jwt-keys-shared")).toEqual([true, false, true]);
});
